#include "cli/chat/chat.h"

#include <string>

#include "cli/chat/chat_commands.h"
#include "cli/terminal/line_reader.h"
#include "cli/terminal/multi_line.h"
#include "cli/usage_error.h"

namespace paceline::cli {
namespace {

constexpr std::string_view kPrompt = ">>> ";
constexpr std::string_view kPromptBelow = "... ";

std::string advice(const Error& error) {
  if (error.code() == ErrorCode::context_overflow) {
    return " (/clear starts over, --ctx N gives more room)";
  }
  return {};
}

bool is_blank(const std::string& text) {
  return text.find_first_not_of(" \t\n") == std::string::npos;
}

class Chat {
 public:
  Chat(Session& session, const Console& console)
      : session_(session), console_(console), reader_(console.settings(), interrupt_) {}

  void loop() {
    while (true) {
      const LineReader::Result line =
          reader_.read(input_.open() ? kPromptBelow : kPrompt, kPromptBelow);
      if (line.kind == LineReader::Kind::ended) {
        return;
      }
      if (line.kind == LineReader::Kind::interrupted) {
        drop_input(line.was_empty);
        continue;
      }
      const auto whole = input_.add(line.text);
      if (whole && !is_blank(*whole) && !handle(*whole)) {
        return;
      }
    }
  }

 private:
  void drop_input(bool was_empty) {
    if (was_empty && !input_.open()) {
      console_.notice("Ctrl-D or /exit leaves, /help shows more.");
    }
    input_.drop();
  }

  /// False to leave.
  bool handle(const std::string& text) {
    reader_.remember(text);
    try {
      if (is_chat_command(text)) {
        const ChatReply reply = carry_out(text, session_);
        console_.answer(reply.text);
        return !reply.leave;
      }
      ask(text);
    } catch (const UsageError& error) {
      console_.error(error.what());
    } catch (const Error& error) {
      if (error.code() == ErrorCode::io) {
        throw;  // nobody reads any more
      }
      console_.error(error.what() + advice(error));
    }
    return true;
  }

  void ask(const std::string& text) {
    const Answer answer = session_.ask(text, interrupt_);
    if (answer.reason == FinishReason::cancelled) {
      console_.notice("(stopped)");
    } else if (answer.reason == FinishReason::length) {
      console_.notice("(cut: no more tokens are allowed or fit the context)");
    }
    console_.answer("\n");
  }

  Session& session_;
  const Console& console_;
  Interrupt interrupt_{Interrupt::Second::is_recorded};  // before the reader, which watches it
  LineReader reader_;
  MultiLine input_;
};

}  // namespace

int chat(Session& session, const std::string& model_name, const Console& console) {
  console.notice(model_name + " - /help shows the commands, Ctrl-D leaves.");
  Chat(session, console).loop();
  return 0;
}

}  // namespace paceline::cli
