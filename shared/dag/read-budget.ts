import type { Json } from '../canonical.ts'
import type { BudgetCaps } from './dag.ts'
import { readSection } from './read-section.ts'
import type { Reading } from './reading.ts'
import type { Problem } from './report.ts'
import { SECTIONS } from './sections.ts'
import type { Path } from './source.ts'

/** The caps of a document or of a block; one without any cap is a problem, since it would promise what it does not do. */
export function readBudget(
  reading: Reading,
  section: 'budget' | 'block_budget',
  given: Json | undefined,
  path: Path,
): BudgetCaps | undefined {
  const read = given === undefined ? undefined : readSection(reading, SECTIONS[section], given, path)
  if (read === undefined) return undefined
  const { tokens, usd } = read
  if (tokens === undefined && usd === undefined) refuseEmpty(reading, given, path)
  return { ...(tokens === undefined ? {} : { tokens }), ...(usd === undefined ? {} : { usd }) }
}

function refuseEmpty({ problems }: Reading, given: Json | undefined, path: Path): void {
  // A cap that is there but wrong is a problem already.
  const keys = Object.keys(given ?? {})
  if (keys.includes('tokens') || keys.includes('usd')) return
  const say: Problem['say'] = ({ place }) => ({
    text: `${place} has no cap; "tokens", "usd" or both are needed`,
    hint: 'Write budget: { tokens: 200000, usd: 5 }, or remove it.',
  })
  problems.push({ code: 'missing_key', path, on: 'key', say })
}
