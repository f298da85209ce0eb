import jsonata from 'jsonata'
import type { Concurrency } from '../dag/dag.ts'
import type { Problem } from '../text/document-problems.ts'
import type { Json } from '../text/json.ts'
import { didYouMean, listed, quoted, suggest } from '../text/wording.ts'
import type { Ports } from './ports.ts'
import { checkProgram } from './programs.ts'
import { type Reading, readSection, SECTIONS } from './sections.ts'

const PATH = ['concurrency']
const KEY_PATH = [...PATH, 'key']

/** The section `concurrency`: how many runs of the document go on at once, and which of them take turns. */
export function readConcurrency(reading: Reading, given: Json | undefined, inputs: Ports): Concurrency | undefined {
  const section = given === undefined ? undefined : readSection(reading, SECTIONS.concurrency, given, PATH)
  if (section === undefined) return undefined
  const { key, limit = 1, on_conflict = 'queue' } = section
  if (key !== undefined) checkKey(reading, key, inputs)
  return { ...(key === undefined ? {} : { key }), limit, on_conflict }
}

/** Its syntax, and what it reads: nothing but run inputs, and one at least. */
function checkKey(reading: Reading, key: string, inputs: Ports): void {
  const before = reading.problems.length
  checkProgram(reading, key, KEY_PATH)
  if (reading.problems.length > before) return
  const roots = rootsOf(jsonata(key).ast() as unknown as Node)
  const [other] = roots.filter(({ name }) => name !== 'inputs')
  if (other !== undefined) {
    const hint = inputs.has(other.name) ? `Write inputs.${other.name}.` : 'Write inputs.NAME.'
    refuse(reading, `reads ${quoted(other.name)}; a key reads run inputs alone`, hint)
    return
  }
  if (roots.length === 0) {
    refuse(reading, 'reads no run input, so it is the same for every run', 'Leave key out: all runs take turns then.')
    return
  }
  const [unknown] = roots.flatMap(({ input }) => (input === undefined || inputs.has(input) ? [] : [input]))
  if (unknown === undefined || inputs.size === 0) return
  const names = [...inputs.keys()]
  const text = `reads ${quoted(`inputs.${unknown}`)}; the document declares ${listed(names)}`
  refuse(reading, text, didYouMean(suggest(unknown, names)))
}

function refuse({ problems }: Reading, text: string, hint: string | undefined): void {
  const say: Problem['say'] = ({ place }) => ({ text: `${place} ${text}`, hint })
  problems.push({ code: 'concurrency_key', path: KEY_PATH, say })
}

/** As much of a parsed program as is looked at (jsonata's own type leaves most of it out). */
interface Node {
  readonly type?: string
  readonly value?: unknown
  readonly steps?: readonly Node[]
  readonly [part: string]: unknown
}

interface Root {
  readonly name: string
  /** Of `inputs`: what of it, where that is said. */
  readonly input?: string
}

/** What a program reads first of what it is given; names after the first step are of what that came to. */
function rootsOf(node: Node): readonly Root[] {
  if (node.type === 'path' && node.steps !== undefined) {
    const isWhole = node.steps[0]?.type === 'variable'
    const [first, second] = isWhole ? node.steps.slice(1) : node.steps
    if (first === undefined) return []
    if (first.type !== 'name') return rootsOf(first)
    const input = second?.type === 'name' ? { input: String(second.value) } : {}
    return [{ name: String(first.value), ...input }]
  }
  return Object.values(node).flatMap((part) => partsOf(part).flatMap(rootsOf))
}

function partsOf(part: unknown): readonly Node[] {
  if (Array.isArray(part)) return part.flatMap(partsOf)
  return typeof part === 'object' && part !== null ? [part as Node] : []
}
