import { ProgramProblem } from '../../shared/errors.ts'
import { type Program, programProblem } from '../../shared/gates/compile-programs.ts'
import { schemaProblem } from '../../shared/gates/schema-limits.ts'
import { validateBySchema } from '../../shared/gates/schema-validation.ts'
import type { Job } from './isolate-messages.ts'

// The validator compiles the draft's own schema first, which takes longer than most checks: not on anybody's time.
validateBySchema({ type: 'null' }, null)

/** `compile`: why the program cannot be used, as JSON text; null when it can. */
export function runSchemaJob(job: Job): string {
  if (job.kind !== 'compile') return checkUnderSchema(job)
  // Made by programsApart() alone, of parameters that were parsed.
  return JSON.stringify(programProblem(job.program as unknown as Program) ?? null)
}

/** Checks a value under a JSON Schema; JSON text of a SchemaAnswer. The budget is kept here too: nobody compiles past it. */
function checkUnderSchema({ program, input }: Job): string {
  if (typeof program !== 'object' || program === null || Array.isArray(program)) {
    throw new ProgramProblem('a JSON Schema is an object')
  }
  const problem = schemaProblem(program)
  if (problem !== undefined) throw new ProgramProblem(problem)
  // An object that is no list, and schemaProblem() saw only JSON in it.
  return JSON.stringify(validateBySchema(program as Exclude<typeof program, readonly unknown[]>, input))
}
