import type { Json } from '../canonical.ts'
import type { Foreach } from './dag.ts'
import { LIMITS } from './limits.ts'
import { isName, NAME_RULE } from './name.ts'
import type { BlockPorts } from './read-block-ports.ts'
import { readGateList } from './read-gates.ts'
import { readSection } from './read-section.ts'
import type { Reading } from './reading.ts'
import type { Problem } from './report.ts'
import { SECTIONS } from './sections.ts'
import type { Path } from './source.ts'
import { templateReferences } from './template.ts'
import { quoted, shown } from './wording.ts'

/** A fan-out over a list. Its placeholder is looked at with the templates of the block (check-templates.ts). */
export function readForeach(
  reading: Reading,
  given: Json | undefined,
  path: Path,
  { ports, names }: { readonly ports: BlockPorts; readonly names: ReadonlySet<string> },
): Foreach | undefined {
  const section = given === undefined ? undefined : readSection(reading, SECTIONS.foreach, given, path)
  if (section === undefined) return undefined
  const items = readItems(reading, section.items, [...path, 'items'])
  const as = readAs(reading, section.as ?? 'item', [...path, 'as'], ports)
  const seen = new Set([...ports.inputs.keys(), ...ports.outputs.keys(), ...(as === undefined ? [] : [as])])
  const item_gates = readGateList(reading, section.item_gates, [...path, 'item_gates'], seen, names)
  if (items === undefined || as === undefined) return undefined
  const { max_concurrency = 10, tolerate = 0 } = section
  return { items, as, max_concurrency, tolerate, item_gates }
}

/** A list, or one placeholder and nothing else: its value itself is taken, not a text made of it. */
function readItems({ problems }: Reading, given: Json | undefined, path: Path): Foreach['items'] | undefined {
  if (Array.isArray(given)) {
    if (given.length <= LIMITS.foreach_items) return given
    const text = `is a list of ${given.length}; the limit is ${LIMITS.foreach_items}`
    problems.push({ code: 'limit_exceeded', path, say: ({ place }) => ({ text: `${place} ${text}` }) })
    return undefined
  }
  if (typeof given === 'string' && isPlaceholder(given.trim())) return given.trim()
  const hint = given === undefined ? 'Add items: "{{inputs.NAME}}".' : undefined
  const say: Problem['say'] = ({ place }) =>
    given === undefined
      ? { text: `${place} is missing`, hint }
      : { text: `${place} is ${shown(given)}; allowed are a list, and one placeholder such as "{{inputs.files}}"` }
  problems.push({ code: given === undefined ? 'missing_key' : 'invalid_value', path, say })
  return undefined
}

/** Whether it is a path is looked at with the other templates; other text in braces is none at all. */
function isPlaceholder(text: string): boolean {
  return /^\{\{[^{}]*\}\}$/.test(text) && templateReferences(text).length === 1
}

function readAs({ problems }: Reading, given: Json, path: Path, { inputs }: BlockPorts): string | undefined {
  if (typeof given !== 'string' || !isName(given)) {
    const say: Problem['say'] = ({ place }) => ({ text: `${place} is ${shown(given)}; allowed are ${NAME_RULE}` })
    problems.push({ code: 'illegal_name', path, say })
    return undefined
  }
  if (!inputs.has(given)) return given
  const say: Problem['say'] = ({ who }) => ({
    text: `${who} calls each item ${quoted(given)}, which is an input of it already`,
    hint: 'Give "as" a name of its own.',
  })
  problems.push({ code: 'duplicate_name', path: path, say })
  return undefined
}
