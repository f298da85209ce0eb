import type { Json } from '../../../shared/canonical.ts'
import type { Source } from './sources.ts'

/** What a tool works on; everything is data of the request. */
export interface Task {
  readonly prompt: string
  readonly params: Readonly<Record<string, Json>>
  readonly inputs: Readonly<Record<string, Json>>
  readonly sources: readonly Source[]
}

/** A text and the same as a value for json ports. */
export interface Draft {
  readonly text: string
  readonly value: Json
  /** The mark of a further line when feedback asks for more; `1.` counts on. */
  readonly bullet: '' | '-' | '1.'
  /** Further sentences, best first, before those of the inputs in their order. */
  readonly reserve: readonly string[]
}

/** One deterministic text tool; `port` is the string port the text is for, when it matters. */
export type Tool = (task: Task, port?: string) => Draft | { readonly problem: string }
