import { sentencesOf } from './sentences.ts'
import type { Source } from './sources.ts'
import type { Tool } from './tool.ts'

const MAX_POINTS = 12
/** Points looked at to find them: an input that says nothing new is given up here. */
const MAX_LOOKED_AT = 200

interface Item {
  readonly line: string
  readonly points: readonly string[]
}

/**
 * Model `outline`, and every name that is no tool: a numbered list of the prompt's own sentences (long ones with their
 * clauses below) and of what each input brings: its headings and list items, its sentences with numbers, or at least
 * its first sentences; at most twelve points an input, nothing twice. Asked for more it adds a check for each point. As a
 * value: {items: [text]}.
 */
export const outline: Tool = ({ prompt, sources }) => {
  const said = new Set(sources.flatMap(({ sentences }) => sentences))
  const asked = sentencesOf(prompt).filter((sentence) => !said.has(sentence))
  const seen = [...asked]
  const fromInputs = sources.flatMap((source) => inputItem(source, seen))
  const items = [...asked.map((line) => ({ line, points: clausesOf(line) })), ...fromInputs]
  const lines = items.flatMap(({ line, points }, at) => [
    `${at + 1}. ${line}`,
    ...points.map((point) => `   - ${point}`),
  ])
  const checked = items.flatMap(({ line, points }) => (points.length > 0 ? points : [line]))
  const reserve = checked.map((point) => `Check: ${point}`)
  return { text: lines.join('\n'), value: { items: items.map(({ line }) => line) }, bullet: '1.', reserve }
}

function inputItem({ name, headings, sentences }: Source, seen: string[]): readonly Item[] {
  const numbered = sentences.filter((sentence) => /\d/.test(sentence))
  const telling = [...headings, ...numbered]
  const candidates = telling.length > 0 ? telling.slice(0, MAX_LOOKED_AT) : sentences.slice(0, 3)
  const fresh = candidates.filter((point) => !seen.some((line) => line.includes(point)))
  const points = [...new Set(fresh)].slice(0, MAX_POINTS)
  seen.push(...points)
  const [only] = points
  if (only === undefined) return []
  return points.length === 1 ? [{ line: `${name}: ${only}`, points: [] }] : [{ line: `From ${name}:`, points }]
}

/** The parts of a sentence that lists several things to do; none when it says one thing. */
function clausesOf(sentence: string): readonly string[] {
  const body = sentence.slice(sentence.indexOf(': ') + 1).replace(/[.!?]+$/, '')
  const clauses = body
    .split(/;\s*|,\s+(?:and\s+|then\s+)?|\s+and\s+(?=\w+\s+\w+)|\s+then\s+/)
    .map((clause) => clause.trim())
  return clauses.length > 1 && clauses.every((clause) => clause.split(/\s+/).length > 1) ? clauses : []
}
