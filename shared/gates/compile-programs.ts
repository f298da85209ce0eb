import type { Isolate } from '../ports/isolate.ts'
import type { Json } from '../text/json.ts'
import { linearPattern, patternWeight } from '../text/linear-pattern.ts'
import { schemaNodes } from './schema-limits.ts'
import { schemaCompileProblem } from './schema-validation.ts'

/**
 * What a gate compiles before its first verdict: a JSON Schema or a pattern. Whether it compiles is part of checking a
 * document, and costs: parameters are parsed without it, then it is done here or in the Isolate.
 */
export type Program = { readonly path: string } & (
  | { readonly schema: { readonly [key: string]: Json } }
  | { readonly pattern: string; readonly flags?: string | undefined }
)

/** Why a program cannot be used, in words; undefined when it can. */
export function programProblem(program: Program): string | undefined {
  if ('schema' in program) return schemaCompileProblem(program.schema)
  const read = linearPattern(program.pattern, program.flags)
  return read.ok ? undefined : read.message
}

/** About 0.3 ms each: of all programs of one document so much is compiled on the event loop. */
const MOST_HERE = 200
/** Of one program; a schema of 2,000 nodes takes half a second of a core. */
const LIMIT = { ms: 10_000, mb: 64 }

/**
 * As programProblem() of each, in the order they are given; more than a few are compiled outside the event loop, where one
 * that runs over is a problem of its own. Throws `unable`'s fault when the Isolate cannot compute at all.
 */
export async function programProblems(
  programs: readonly Program[],
  isolate: Isolate,
  unable: (message: string) => Error,
): Promise<readonly (string | undefined)[]> {
  const weight = programs.reduce((sum, program) => sum + weightOf(program), 0)
  if (weight <= MOST_HERE) return programs.map(programProblem)
  // Blocks often have the same schema: each is compiled once.
  const jobs = new Map<string, Promise<string | undefined>>()
  const jobOf = (program: Program) => {
    const key = JSON.stringify(program)
    const job = jobs.get(key) ?? problemApart(program, isolate, unable)
    jobs.set(key, job)
    return job
  }
  return Promise.all(programs.map(jobOf))
}

async function problemApart(
  program: Program,
  isolate: Isolate,
  unable: (message: string) => Error,
): Promise<string | undefined> {
  const answer = await isolate.run('compile', { program: asJson(program), input: null }, LIMIT)
  if (answer.ok) return typeof answer.value === 'string' ? answer.value : undefined
  if (answer.because === 'error' || answer.because === 'stopped') throw unable(answer.message)
  return `it cannot be compiled: ${answer.message}`
}

/** Members that are absent are left out, as in JSON. */
function asJson(program: Program): Json {
  if ('schema' in program) return { path: program.path, schema: program.schema }
  const { path, pattern, flags } = program
  return { path, pattern, ...(flags === undefined ? {} : { flags }) }
}

function weightOf(program: Program): number {
  return 'schema' in program ? schemaNodes(program.schema) : patternWeight(program.pattern)
}
