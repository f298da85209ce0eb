import { count } from '../terminal/format.ts'
import { Refused, reasonLines, usageError } from '../terminal/refused.ts'
import type { Session } from '../terminal/session.ts'
import { jsonText } from '../terminal/text.ts'
import { asRefused, evalFiles, planRound, readEvalFile } from './plan-round.ts'

interface Checked {
  readonly file: string
  readonly valid: boolean
  readonly items?: number
  readonly variants?: number
  readonly code?: string
  readonly problem?: string
  readonly errors?: Refused['reason']['errors']
}

/** `sluice eval validate`: the file, its data and its documents, without a server. Items that are past runs are not asked for. */
export async function validateEvals(session: Session, given: readonly string[], json: boolean): Promise<void> {
  const files = given.length > 0 ? given : evalFiles()
  if (files.length === 0) throw usageError('There is no evaluation in evals/ here. Name a file.')
  const checked: Checked[] = []
  for (const file of files) checked.push(await checkEval(session, file, json))
  if (json) session.say(jsonText({ files: checked }, 2))
  if (checked.some(({ valid }) => !valid)) process.exitCode = 100
}

async function checkEval(session: Session, file: string, json: boolean): Promise<Checked> {
  const checked = await planned(file).catch((error: unknown) => refusedEval(session, file, error, json))
  if (checked.valid && !json) {
    const items = checked.items === undefined ? 'items that are past runs' : count(checked.items, 'item')
    session.say(`${file}: ok, ${items}, ${count(checked.variants ?? 0, 'variant')}`)
  }
  return checked
}

async function planned(file: string): Promise<Checked> {
  const read = readEvalFile(file)
  const variants = read.evaluation.variants.length
  if (read.evaluation.data.runs !== undefined) return { file, valid: true, variants }
  const { items } = await planRound(read, () => Promise.reject(usageError('No place is asked.')))
  return { file, valid: true, variants, items: items.length }
}

function refusedEval(session: Session, file: string, error: unknown, json: boolean): Checked {
  const refused = asRefused(error)
  if (!(refused instanceof Refused)) throw error
  const { code, detail, errors } = refused.reason
  if (!json) for (const line of reasonLines(refused.reason, session.settings.command)) session.warn(line)
  return { file, valid: false, code, problem: detail, ...(errors && { errors }) }
}
