import * as z from 'zod'
import type { CheckResult, Gate, GateFacts } from './gate.ts'
import { quoted } from './one-sentence.ts'
import { PortNameSchema } from './port-name.ts'
import { readPort, wrongType } from './read-port.ts'

const MAX_BYTES = 4_194_304

const MarkdownSectionsSchema = z.strictObject({
  port: PortNameSchema,
  sections: z.array(z.string().max(200).regex(/\S/, 'a heading is not blank')).min(1).max(100),
})
type MarkdownSections = z.infer<typeof MarkdownSectionsSchema>

/** ATX headings (CommonMark 4.2) outside fenced code, whatever their case and level. */
export const markdownSections: Gate<MarkdownSections> = {
  type: 'markdown_sections',
  summary: 'Passes when the Markdown of the port has every heading, each with a text below it.',
  params: MarkdownSectionsSchema,
  reads: ({ port }) => [port],
  judges: () => ['text'],
  examples: [
    {
      check: { port: 'brief', sections: ['Risks'] },
      outputs: { brief: '# Plan\n\n## Risks\n\nNone known.\n' },
      passes: true,
    },
    {
      check: { port: 'brief', sections: ['Risks'] },
      outputs: { brief: '## Risks\n\n## Costs\n\nTen.\n' },
      passes: false,
    },
  ],
  check,
}

function check({ port, sections }: MarkdownSections, facts: GateFacts): CheckResult {
  const text = readPort(facts, port)
  if (typeof text !== 'string') return wrongType(port, 'Markdown text', text)
  if (Buffer.byteLength(text) > MAX_BYTES) {
    const reason = `port ${port} has more than the ${MAX_BYTES} bytes that are read`
    return { passed: false, unfit: true, reason, facts: { port } }
  }
  const filled = filledSections(text)
  const state = (section: string) => filled.get(fold(section))
  const missing = sections.filter((section) => state(section) === undefined)
  if (missing.length > 0) {
    return { passed: false, reason: `must have the sections ${quoted(missing)}`, facts: { port, missing } }
  }
  const empty = sections.filter((section) => state(section) === false)
  if (empty.length > 0) {
    return { passed: false, reason: `must have text below the headings ${quoted(empty)}`, facts: { port, empty } }
  }
  return { passed: true, reason: `has the sections ${quoted(sections)}`, facts: { port, sections } }
}

/** Each heading, folded, and whether any text follows before the next heading of its level or above. */
function filledSections(text: string): ReadonlyMap<string, boolean> {
  const reader: Reader = { filled: new Map(), open: [], fence: undefined }
  for (const line of text.split(/\r\n|\n|\r/)) {
    const heading = reader.fence === undefined ? HEADING.exec(line) : null
    if (heading !== null) openSection(reader, heading)
    else if (/\S/.test(line)) for (const { name } of reader.open) reader.filled.set(name, true)
    const mark = /^ {0,3}(```+|~~~+)/.exec(line)?.[1]
    if (mark !== undefined) reader.fence = fenceAfter(reader.fence, mark)
  }
  return reader.filled
}

interface Reader {
  readonly filled: Map<string, boolean>
  /** The headings the line stands below, outermost first. */
  open: readonly { readonly level: number; readonly name: string }[]
  fence: string | undefined
}

function openSection(reader: Reader, [, marks = '', heading = '']: RegExpExecArray): void {
  const [level, name] = [marks.length, fold(heading)]
  reader.open = [...reader.open.filter((above) => above.level < level), { level, name }]
  if (!reader.filled.has(name)) reader.filled.set(name, false)
}

const HEADING = /^ {0,3}(#{1,6})[ \t]+(\S[^\r\n]*)$/

/** A fence ends with one of its own kind, at least as long. */
function fenceAfter(fence: string | undefined, mark: string): string | undefined {
  if (fence === undefined) return mark
  return mark[0] === fence[0] && mark.length >= fence.length ? undefined : fence
}

function fold(name: string): string {
  return name
    .replace(/[ \t]+#+[ \t]*$/, '')
    .replace(/\s+/g, ' ')
    .trim()
    .toUpperCase()
}
