#include "paceline/inspect.h"

#include "cli/catalogue/model_path.h"
#include "cli/commands/commands.h"
#include "cli/inspect_report.h"

namespace paceline::cli {

int inspect_model(const InspectCommand& command, const Console& console) {
  const ModelReport report = inspect(model_path(command.model, console));
  console.answer(command.json ? report_json(report) : report_text(report));
  return 0;
}

}  // namespace paceline::cli
