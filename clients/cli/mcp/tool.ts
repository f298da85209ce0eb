import type * as z from 'zod'
import type { Target } from '../server/api.ts'

/** What a tool is called with besides its arguments. */
export interface ToolCall {
  readonly target: Target
  /** Aborted when the client cancels the call or goes away. */
  readonly signal: AbortSignal
  /** Tells a client that wants to know how far it is; `done` only rises. */
  progress(done: number, message: string): Promise<void>
}

/** One tool of the MCP server: a registry's entry, so that a new tool is a new object. */
export interface Tool {
  readonly name: string
  readonly title: string
  readonly description: string
  readonly input: z.ZodType
  readonly output: z.ZodType
  /** It changes nothing. */
  readonly reads?: true
  /** What it does cannot be undone. */
  readonly destroys?: true
  /** The same arguments again change nothing more. */
  readonly repeats?: true
  /** Listed only where the operator lets the client decide for people. */
  readonly decides?: true
  run(args: unknown, call: ToolCall): Promise<object>
}

/** A tool whose arguments have the type of their schema. */
export function defineTool<Input extends z.ZodType>(
  of: Omit<Tool, 'input' | 'run'> & {
    readonly input: Input
    run(args: z.output<Input>, call: ToolCall): Promise<object>
  },
): Tool {
  // serve.ts parses the arguments by this very schema first.
  return { ...of, run: (args, call) => of.run(args as z.output<Input>, call) }
}

type Present<T> = { [Key in keyof T]: Exclude<T[Key], undefined> }

/** The members that were given: a parsed argument that is left out may stand there as undefined. */
export function withoutUndefined<T extends object>(values: T): Present<T> {
  const given = Object.entries(values).filter(([, value]) => value !== undefined)
  // Without them it has the type that says so.
  return Object.fromEntries(given) as Present<T>
}
