import { LIMITS } from '../limits.ts'
import type { Json } from './json.ts'
import { lineFinder, locate, type Path, pathText, type Source } from './source-position.ts'
import { quoted } from './wording.ts'

/** One thing wrong with a document. Line and column are 1-based and absent when the document came as an object. */
export interface DagError {
  readonly code: string
  /** `blocks[1].inputs.plan.from`; empty for the whole document. */
  readonly path: string
  readonly line?: number
  readonly column?: number
  readonly message: string
  readonly hint?: string
}

/** What a problem is about, for its sentence: `block "plan"`, and `retry.max_attempts of block "plan"`. */
export interface Subject {
  readonly who: string
  readonly place: string
}

/** A problem as the checks leave it. Its text is made only for those that are shown: suggestions cost time. */
export interface Problem {
  readonly code: string
  readonly path: Path
  /** Where it stands; without it, where the path leads. */
  readonly at?: number
  readonly on?: 'key'
  /** `text` ends without a full stop; `hint` is a sentence. */
  readonly say: (subject: Subject) => { readonly text: string; readonly hint?: string | undefined }
}

/** The first 100 problems by position in the document, as errors. */
export function listErrors(problems: readonly Problem[], source: Partial<Source>, name: string): readonly DagError[] {
  const root = source.spot ?? { at: 0 }
  const found = problems.map((problem) => ({
    problem,
    at: problem.at ?? locate(root, problem.path, problem.on ?? 'value'),
  }))
  const first = found.toSorted((a, b) => a.at - b.at).slice(0, LIMITS.errors)
  const place = source.text === undefined ? undefined : lineFinder(source.text)
  return first.map(({ problem, at }) => {
    const { text, hint } = problem.say(subjectOf(problem.path, source.value))
    return {
      code: problem.code,
      path: pathText(problem.path),
      ...place?.(at),
      message: `Cannot compile DAG ${quoted(name)}: ${text}.${hint === undefined ? '' : ` ${hint}`}`,
      ...(hint === undefined ? {} : { hint }),
    }
  })
}

function subjectOf(path: Path, value: Json | undefined): Subject {
  const [list, index] = path
  const inList = (list === 'blocks' || list === 'edges') && typeof index === 'number'
  const id = list === 'blocks' && inList ? idOf(value, index) : undefined
  const who = !inList ? 'the document' : id === undefined ? `${list}[${index}]` : `block ${quoted(id)}`
  const field = pathText(inList ? path.slice(2) : path)
  return { who, place: field === '' ? who : `${field} of ${who}` }
}

function idOf(value: Json | undefined, index: number): string | undefined {
  const blocks = memberOf(value, 'blocks')
  const id = Array.isArray(blocks) ? memberOf(blocks[index], 'id') : undefined
  return typeof id === 'string' && id !== '' ? id : undefined
}

function memberOf(value: unknown, key: string): unknown {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined
  // Checked above: an object with this own key.
  return (value as Readonly<Record<string, unknown>>)[key]
}
