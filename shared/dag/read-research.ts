import type { Json } from '../canonical.ts'
import { ASKED_LIMITS } from '../research/asked-intent.ts'
import { resolveBudgets } from '../research/resolve-budgets.ts'
import type { Research } from './dag.ts'
import { isReserved } from './name.ts'
import { readSection } from './read-section.ts'
import { type Reading, readMapping } from './reading.ts'
import type { Problem } from './report.ts'
import { SECTIONS } from './sections.ts'
import type { Path } from './source.ts'
import { shown } from './wording.ts'

/** The section `research`: what is asked, and within which bounds (docs/dag.md, "Research"). */
export function readResearch(
  reading: Reading,
  given: Json,
  path: Path,
): { readonly mode: 'research'; readonly research: Research } | undefined {
  const section = readSection(reading, SECTIONS.research, given, path)
  if (section?.topic === undefined) return undefined
  const { topic, hints, keep_unsupported, ...bounds } = section
  const read = readHints(reading, hints, [...path, 'hints'])
  const kept = keep_unsupported === true ? { keep_unsupported } : {}
  return { mode: 'research', research: { topic, hints: read, ...resolveBudgets(bounds), ...kept } }
}

function readHints(reading: Reading, given: Json | undefined, path: Path): Readonly<Record<string, string>> {
  const mapping = given === undefined ? {} : (readMapping(reading, given, path) ?? {})
  const entries = Object.entries(mapping)
  const { hints: most } = ASKED_LIMITS
  if (entries.length > most) {
    refuse(reading, path, 'limit_exceeded', `has ${entries.length} hints; the limit is ${most}`)
  }
  const hints: Record<string, string> = {}
  for (const [key, value] of entries) {
    const wrong = wrongKey(key) ?? wrongValue(value)
    if (wrong !== undefined) refuse(reading, [...path, key], ...wrong)
    else if (typeof value === 'string') hints[key] = value
  }
  return hints
}

/** Code and words of what is wrong. */
type Wrong = readonly [code: string, words: string]

function wrongKey(key: string): Wrong | undefined {
  const { hint_key_characters: most } = ASKED_LIMITS
  if (key.trim() === '' || isReserved(key)) return ['illegal_name', 'is no name of a hint']
  return key.length > most ? ['limit_exceeded', `has ${key.length} characters; the limit is ${most}`] : undefined
}

function wrongValue(value: Json): Wrong | undefined {
  const { hint_value_characters: most } = ASKED_LIMITS
  if (typeof value !== 'string') return ['wrong_type', `must be a text, got ${shown(value)}`]
  if (value.trim() === '') return ['invalid_value', 'is blank; leave it out, or say something']
  const long = `is a text of ${value.length} characters; the limit is ${most}`
  return value.length > most ? ['limit_exceeded', long] : undefined
}

function refuse({ problems }: Reading, path: Path, ...[code, words]: Wrong): void {
  const say: Problem['say'] = ({ place }) => ({ text: `${place} ${words}` })
  problems.push({ code, path, on: 'key', say })
}
