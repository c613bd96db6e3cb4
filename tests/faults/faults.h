/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A machine that runs out of memory, threads or disk, on demand: libdetops_faults.so takes the
 * place of malloc and its kin, pthread_create, and the functions that write. A program links it, or
 * has it preloaded (README.md says how); these functions and the environment variables of the same
 * names say what fails. They hold for the whole process, all threads.
 */
#ifndef DETOPS_TESTS_FAULTS_H_
#define DETOPS_TESTS_FAULTS_H_

#ifdef __cplusplus
extern "C" {
#endif

/* The n-th allocation from now on fails, and with `and_later` every one after it; 0: none does. */
void detopsFaultsFailAllocation(long n, int and_later);
/* The n-th thread from now on can't start, nor can any after it; 0: all can. */
void detopsFaultsFailThreads(long n);
/* The n-th write from now on, to anything but stderr, finds the disk full, and so does every one
 * after it; 0: none does. A file that found it full stays so. */
void detopsFaultsFailWrites(long n);

/* How many failed since the last of the calls above for their kind. */
long detopsFaultsFailedAllocations(void);
long detopsFaultsFailedThreads(void);
long detopsFaultsFailedWrites(void);

/* Allocations that are not freed yet, since the process began. */
long detopsFaultsLiveAllocations(void);

#ifdef __cplusplus
}
#endif

#endif /* DETOPS_TESTS_FAULTS_H_ */
