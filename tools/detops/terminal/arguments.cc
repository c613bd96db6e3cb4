// SPDX-License-Identifier: Apache-2.0
#include "terminal/arguments.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <utility>

#include "files/array.h"

namespace detops::cli {
namespace {

std::vector<CLI::App*> CommandsOf(CLI::App& app) {
  return app.get_subcommands([](const CLI::App*) { return true; });
}

// The command that the arguments got to, and how it is called: "detops run poly_nms".
std::pair<CLI::App*, std::string> Reached(CLI::App& app) {
  std::pair<CLI::App*, std::string> reached = {&app, app.get_name()};
  while (!reached.first->get_subcommands().empty()) {
    reached.first = reached.first->get_subcommands().back();
    reached.second += " " + reached.first->get_name();
  }
  return reached;
}

// CLI11's own words, but where they don't say what to do.
std::string TextOf(const CLI::ParseError& error, CLI::App& app) {
  const auto [command, name] = Reached(app);
  std::vector<std::string> commands;
  for (const CLI::App* sub : CommandsOf(*command)) commands.push_back(sub->get_name());
  const std::vector<std::string> unknown = app.remaining(true);
  std::string text = error.what();
  if (!unknown.empty() && !commands.empty()) {
    text = fmt::format("there is no '{}'; {} has {}", unknown[0], name, fmt::join(commands, ", "));
  } else if (!commands.empty() && dynamic_cast<const CLI::RequiredError*>(&error) != nullptr) {
    text = fmt::format("{} needs a command: {}", name, fmt::join(commands, ", "));
  } else if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr && !unknown.empty()) {
    text = fmt::format("{} has no '{}'", name, unknown[0]);
  }
  return fmt::format("{}; `{} --help` says more", text, name);
}

}  // namespace

Option& Option::Required() {
  option_->required();
  return *this;
}
Option& Option::ShowDefault() {
  option_->capture_default_str();
  return *this;
}
Option& Option::ShowDefault(const std::string& text) {
  option_->default_str(text);
  return *this;
}
Option& Option::TypeName(const std::string& name) {
  option_->type_name(name);
  return *this;
}
Option& Option::OneOf(const std::vector<std::string>& words) {
  option_->check(CLI::IsMember(words));
  return *this;
}
Option& Option::Within(int64_t lowest, int64_t highest) {
  option_->check(CLI::Range(lowest, highest));
  return *this;
}
Option& Option::Within(double lowest, double highest) {
  option_->check(CLI::Range(lowest, highest));
  return *this;
}

template <class T>
Option Command::Add(const std::string& names, T& variable, const std::string& help) {
  return Option(app_->add_option(names, variable, help));
}
template Option Command::Add(const std::string&, std::string&, const std::string&);
template Option Command::Add(const std::string&, int&, const std::string&);
template Option Command::Add(const std::string&, int64_t&, const std::string&);
template Option Command::Add(const std::string&, uint64_t&, const std::string&);
template Option Command::Add(const std::string&, float&, const std::string&);
template Option Command::Add(const std::string&, double&, const std::string&);
template Option Command::Add(const std::string&, std::vector<std::string>&, const std::string&);

template <class T>
Option Command::AddSetter(const std::string& names, std::function<void(const T&)> set,
                          const std::string& help) {
  return Option(app_->add_option_function<T>(names, set, help));
}
template Option Command::AddSetter(const std::string&, std::function<void(const std::string&)>,
                                   const std::string&);
template Option Command::AddSetter(const std::string&, std::function<void(const int&)>,
                                   const std::string&);
template Option Command::AddSetter(const std::string&, std::function<void(const float&)>,
                                   const std::string&);
template Option Command::AddSetter(const std::string&, std::function<void(const bool&)>,
                                   const std::string&);

void Command::AddFlag(const std::string& names, bool& variable, const std::string& help) {
  app_->add_flag(names, variable, help);
}
void Command::AddFlagSetter(const std::string& names, std::function<void()> set,
                            const std::string& help) {
  app_->add_flag_callback(names, std::move(set), help);
}

Command Command::AddCommand(const std::string& name, const std::string& summary) {
  return Command(app_->add_subcommand(name, summary));
}
void Command::NeedsCommand() { app_->require_subcommand(1); }
void Command::Footer(const std::string& text) { app_->footer(text); }
void Command::OnCall(std::function<void()> call) { app_->callback(std::move(call)); }

std::string Command::name() const { return app_->get_name(); }
std::vector<std::string> Command::options() const {
  std::vector<std::string> all;
  for (const CLI::Option* option : app_->get_options()) {
    for (const std::string& name : option->get_lnames()) all.push_back("--" + name);
  }
  return all;
}
std::vector<Command> Command::commands() const {
  std::vector<Command> all;
  for (CLI::App* sub : CommandsOf(*app_)) all.emplace_back(sub);
  return all;
}

Program::Program(const std::string& name, const std::string& summary, const std::string& version)
    : Command(nullptr), owned_(std::make_unique<CLI::App>(summary, name)), version_(version) {
  app_ = owned_.get();
  app_->set_version_flag("--version", version);
}
Program::~Program() = default;

void Program::Run(int argc, char** argv) {
  try {
    app_->parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    fmt::print("{}", app_->help());
  } catch (const CLI::CallForVersion&) {
    fmt::print("{} {}\n", name(), version_);
  } catch (const CLI::ParseError& e) {
    throw UserError(TextOf(e, *app_));
  }
}

}  // namespace detops::cli
