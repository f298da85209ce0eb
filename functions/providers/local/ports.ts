import type { PortType } from '../../../shared/dag/dag.ts'
import type { DispatchRequest } from '../../../shared/providers/provider.ts'
import { fitsPort } from '../../../shared/runs/block-inputs.ts'
import type { Json } from '../../../shared/text/canonical.ts'
import { sentencesOf } from './sources.ts'
import type { Draft, Task, Tool } from './tools.ts'

type Problem = { readonly problem: string }

/**
 * The answer's text: of a single string port the text itself, else a JSON object of the ports. Every port is made from
 * the request alone. string: the tool's text; with several, each asks under its own description or name. json: the
 * value of that name in the inputs, else the tool's value. file, artifact: the ref of that name in the inputs, else the
 * tool's text. number, boolean: the value of that name in the inputs. What none of this gives is left out, so that the contract names it: nothing is invented.
 */
export function answerPorts(request: DispatchRequest, task: Task, tool: Tool): { readonly text: string } | Problem {
  const ports = Object.keys(request.output_schema)
  const values: [string, Json][] = []
  for (const port of ports) {
    request.signal.throwIfAborted()
    const made = portValue(request, task, tool, port)
    if ('problem' in made) return made
    if (made.value !== undefined) values.push([port, made.value])
  }
  const [first] = values
  const text = ports.length === 1 ? first?.[1] : undefined
  if (typeof text === 'string' && !readsAsJson(text)) return { text }
  return { text: JSON.stringify(Object.fromEntries(values)) }
}

function portValue(
  { output_schema, feedback }: DispatchRequest,
  task: Task,
  tool: Tool,
  port: string,
): { readonly value: Json | undefined } | Problem {
  const { type, description } = output_schema[port] ?? { type: 'string' }
  const isText = (of: PortType) => of !== 'json' && of !== 'number' && of !== 'boolean'
  if (type !== 'string') {
    const value = namedValue(task.inputs, port, (found) => found !== null && fitsPort(type, found))
    if (value !== undefined || type === 'number' || type === 'boolean') return { value }
  }
  const several = Object.values(output_schema).filter((other) => isText(other.type)).length > 1
  const asked = several && isText(type) ? { ...task, prompt: `${description ?? port}: ${task.prompt}` } : task
  const draft = tool(asked, port)
  if ('problem' in draft) return draft
  return {
    value:
      type === 'json'
        ? draft.value
        : followFeedback(draft, asked, readDemand(port, Object.keys(output_schema), feedback)),
  }
}

/** Text the reader of answers would take for an object of ports. */
function readsAsJson(text: string): boolean {
  return text.trimStart().startsWith('{') || text.includes('```json')
}

const MAX_VALUES = 2_000

/**
 * The value the inputs give a name, if `fits` takes it: the input of that name, else the first member of that name in
 * the json inputs (breadth first, 2,000 values), else what a text input writes after it: `score: 7`, `is ready = true`.
 */
function namedValue(
  inputs: Readonly<Record<string, Json>>,
  name: string,
  fits: (value: Json) => boolean,
): Json | undefined {
  const level: Json[] = [inputs]
  for (const value of level) {
    const found = memberOf(value, name)
    if (found !== undefined && fits(found)) return found
    if (level.length < MAX_VALUES) level.push(...membersOf(value))
  }
  const texts = Object.values(inputs).filter((value) => typeof value === 'string')
  return texts.map((text) => writtenValue(text, name)).find((value) => value !== undefined && fits(value))
}

function memberOf(value: Json, name: string): Json | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined
  return Object.hasOwn(value, name) ? (value as Readonly<Record<string, Json>>)[name] : undefined
}

function membersOf(value: Json): readonly Json[] {
  return typeof value === 'object' && value !== null ? Object.values(value).slice(0, MAX_VALUES) : []
}

function writtenValue(text: string, name: string): Json | undefined {
  const words = name.split(/[_-]+/).join('[ _-]')
  const written = new RegExp(
    `(?:^|[^\\p{L}\\p{N}])${words}\\s*[:=]\\s*(true|false|-?\\d+(?:\\.\\d+)?)(?![\\p{L}\\p{N}])`,
    'iu',
  )
  const found = written.exec(text)?.[1]
  return found === undefined ? undefined : (JSON.parse(found.toLowerCase()) as Json)
}

/** What feedback asks of one string port. */
interface Demand {
  /** Characters (code points) it must have at least; 0 = any. */
  readonly length: number
  readonly words: readonly string[]
  readonly some: readonly { readonly of: readonly string[]; readonly least: number }[]
  readonly missing: boolean
}

/** Above this a length is not obeyed: the padding would help nobody. */
const MAX_LENGTH = 200_000

/**
 * Reads feedback lines of the forms our gates and contract write; what stands before the form (gate name, author's
 * text) does not matter, other lines ask nothing. A line that names one of `ports` concerns that port alone.
 */
function readDemand(port: string, ports: readonly string[], feedback: readonly string[]): Demand {
  const lines = feedback.filter((line) => (namedPort(line, ports) ?? port) === port)
  const lengths = lines.map((line) => Number(/must be at least (\d+) characters/.exec(line)?.[1] ?? 0))
  const some = lines.flatMap((line) => {
    const [, least, list] = /must contain at least (\d+) of the keywords (".*"); found/s.exec(line) ?? []
    return list === undefined ? [] : [{ least: Number(least), of: quotedTexts(list) }]
  })
  return {
    length: Math.max(0, ...lengths.filter((length) => length <= MAX_LENGTH)),
    words: lines.flatMap((line) => quotedTexts(/must contain (".*)$/s.exec(line)?.[1] ?? '')),
    some,
    missing: lines.some((line) => line.includes(`missing port ${port}`)),
  }
}

function namedPort(line: string, ports: readonly string[]): string | undefined {
  const named = /\bport "?([A-Za-z][A-Za-z0-9_-]*)/.exec(line)?.[1]
  return ports.find((port) => port === named)
}

/** `"a", "b"`; a text our gates cut (it ends in `…`) or that lost its closing quote cannot be known and is left out. */
function quotedTexts(list: string): readonly string[] {
  const parts = list.slice(1).split('", "')
  const last = parts.pop() ?? ''
  if (last.endsWith('"')) parts.push(last.slice(0, -1))
  return parts.filter((text) => text !== '' && !text.endsWith('…'))
}

const AGAIN = 'Once more, to the length asked for:'

/**
 * The draft's text with what feedback asks for added below it, in the inputs' own words (the prompt's, when the inputs
 * have none). A wanted word that no input has is answered by saying so, which also contains it; a length the inputs
 * cannot fill is filled by saying them once more, under a line that says it. Impossible, and then left short: a length
 * when neither inputs nor prompt hold a letter or digit.
 */
function followFeedback(draft: Draft, task: Task, demand: Demand): string {
  const said = [...new Set(task.sources.flatMap(({ sentences }) => sentences))]
  const material = said.length > 0 ? said : sentencesOf(task.prompt)
  const first = demand.missing && draft.text.trim() === '' ? material.slice(0, 1) : []
  const wanted = [...first, ...wantedLines(draft.text, demand, [...material, ...draft.reserve])]
  const text = append(draft.text, wanted, draft.bullet)
  return lengthen(text, demand.length, [...new Set([...draft.reserve, ...material])], draft.bullet)
}

function wantedLines(text: string, { words, some }: Demand, material: readonly string[]): readonly string[] {
  const lines: string[] = []
  const has = (word: string, test: typeof mentions) => test(text, word) || lines.some((line) => test(line, word))
  for (const word of words) if (!has(word, includes)) lines.push(exactLine(word, material))
  for (const { of, least } of some) {
    const open = mentionedFirst(of, material).filter((word) => !has(word, mentions))
    // Each line may bring in several words, so what is still open is asked again.
    while (open.length > of.length - least && open[0] !== undefined) {
      lines.push(lineWith(open[0], material))
      open.splice(0, open.length, ...open.filter((word) => !has(word, mentions)))
    }
  }
  return lines
}

/** With the word exactly as wanted: whether its case matters is not in the feedback. */
function exactLine(word: string, material: readonly string[]): string {
  const exact = material.find((line) => line.includes(word))
  if (exact !== undefined) return exact
  const near = lineWith(word, material)
  return near.includes(word) ? near : `${word}: ${near}`
}

/** Keywords are looked for whatever their case. */
function lineWith(word: string, material: readonly string[]): string {
  return material.find((line) => mentions(line, word)) ?? `The inputs do not mention "${word}".`
}

function mentionedFirst(words: readonly string[], material: readonly string[]): readonly string[] {
  const known = new Set(words.filter((word) => material.some((line) => mentions(line, word))))
  return [...known, ...words.filter((word) => !known.has(word))]
}

function includes(line: string, word: string): boolean {
  return line.includes(word)
}

function mentions(line: string, word: string): boolean {
  return line.toUpperCase().includes(word.toUpperCase())
}

function lengthen(text: string, least: number, material: readonly string[], bullet: Draft['bullet']): string {
  let size = characters(text)
  const take = (lines: readonly string[]) => {
    const taken: string[] = []
    for (const line of lines) {
      if (size >= least) break
      taken.push(line)
      size += characters(line)
    }
    return taken
  }
  const fresh = size < least ? material.filter((line) => !text.includes(line)) : []
  const long = append(text, take(fresh), bullet)
  if (size >= least || material.length === 0) return long
  size += characters(AGAIN)
  const again: string[] = []
  while (size < least) again.push(...take(material))
  return append(append(long, [AGAIN], ''), again, bullet)
}

/** Lines below a text: paragraphs, or items that go on where its list ends. */
function append(text: string, lines: readonly string[], bullet: Draft['bullet']): string {
  if (lines.length === 0) return text
  const before = text.trimEnd()
  const numbered = bullet === '1.' ? (before.match(/^\d+\. /gm) ?? []).length : 0
  const marked = lines.map((line, at) =>
    bullet === '1.' ? `${numbered + at + 1}. ${line}` : `${bullet} ${line}`.trimStart(),
  )
  const below = marked.join(bullet === '' ? '\n\n' : '\n')
  if (before === '') return below
  const inList = bullet !== '' && /^\s*(?:-|\d+\.) /.test(before.slice(before.lastIndexOf('\n') + 1))
  return `${before}${inList ? '\n' : '\n\n'}${below}`
}

function characters(text: string): number {
  let count = 0
  for (const _ of text) count += 1
  return count
}
