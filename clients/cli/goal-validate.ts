import { contractSource } from '../../shared/goals/files/contract-file.ts'
import { freezeContract } from '../../shared/goals/freeze-contract.ts'
import { readGoalContract } from '../../shared/goals/read-contract.ts'
import { goalErrorLines } from './goal-error-lines.ts'
import { jsonText } from './json-text.ts'
import { plainText } from './plain-text.ts'
import { readFile } from './read-file.ts'
import { usage } from './refused.ts'
import type { Session } from './session.ts'
import { count } from './words.ts'

/** Checks contracts in files; exit code 100 when one has errors. */
export function goalValidate(session: Session, files: readonly string[], json: boolean): void {
  if (files.length === 0) throw usage('Name the files with goal contracts to check, or say --ndjson.')
  const checked = files.map((file) => ({ file, read: readFrom(file) }))
  const views = checked.map(({ file, read }) =>
    read.ok
      ? { file, valid: true, hash: freezeContract(read.contract).hash, errors: [] }
      : { file, valid: false, errors: read.errors },
  )
  if (json) session.say(jsonText(views, 2))
  else for (const line of checked.flatMap(({ file, read }) => lines(file, read))) session.say(plainText(line))
  process.exitCode = views.every(({ valid }) => valid) ? 0 : 100
}

/** Of a notebook or Markdown file the front matter. */
function readFrom(file: string): ReturnType<typeof readGoalContract> {
  const source = contractSource(file, readFile(file, 'the goal contract'))
  if (source.ok && source.contract !== undefined) return readGoalContract(source.contract)
  const message = `Cannot use the goal contract: ${source.ok ? 'there is none' : source.problem}.`
  return { ok: false, errors: [{ code: 'goal_contract_invalid', path: '', message }], criteria: [] }
}

function lines(file: string, read: ReturnType<typeof readGoalContract>): readonly string[] {
  if (!read.ok) return [`${file} has ${count(read.errors.length, 'error')}:`, ...goalErrorLines(read.errors)]
  const ids = read.contract.acceptance_criteria.map(({ id }) => id).join(', ')
  return [`${file} is valid: ${ids}`]
}
