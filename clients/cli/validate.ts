import type { Command } from 'commander'
import { type CheckedFile, checkFile, filesToCheck } from './check-files.ts'
import { jsonText } from './json-text.ts'
import { plainText } from './plain-text.ts'
import { placeLines } from './reason-lines.ts'
import { usage } from './refused.ts'
import type { Session } from './session.ts'
import { validateLines } from './validate-lines.ts'

interface ValidateOptions {
  readonly json?: true
  readonly ndjson?: true
}

export function addValidate(parent: Command, session: Session): void {
  parent
    .command('validate')
    .description('check documents without a server; exit code 100 when one has errors')
    .argument('[files...]', 'default: sluice.yaml, if there is one, and every dags/*.yaml')
    .option('--json', 'print JSON')
    .option('--ndjson', 'read lines {"id","yaml"} from stdin, answer a line each; exit code 0 when all were answered')
    .action((files: readonly string[], options: ValidateOptions) => validate(session, files, options))
}

async function validate(session: Session, files: readonly string[], options: ValidateOptions): Promise<void> {
  if (options.ndjson === true) {
    if (files.length > 0) throw usage('Give files or --ndjson, not both: with --ndjson the documents come on stdin.')
    return await validateLines(session)
  }
  const found = files.length > 0 ? files : filesToCheck()
  if (found.length === 0)
    throw usage('Nothing to validate: there is no sluice.yaml and no dags/*.yaml here. Name a file.')
  const checked = found.map(checkFile)
  if (options.json === true) session.say(jsonText(checked, 2))
  else for (const file of checked) sayChecked(session, file)
  process.exitCode = checked.every(({ valid }) => valid) ? 0 : 100
}

function sayChecked(session: Session, { file, valid, errors, order }: CheckedFile): void {
  const blocks = order.length === 0 ? '' : `: ${order.join(', ')}`
  const head = valid ? `${file} is valid${blocks}` : `${file} has errors:`
  for (const line of [head, ...errors.flatMap((error) => placeLines(error))]) session.say(plainText(line))
}
