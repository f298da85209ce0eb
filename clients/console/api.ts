import createClient from 'openapi-fetch'
import type { components, paths } from '../api/schema.generated.ts'

/** The API of the place this page came from: `api.GET('/api/dag/runs/{run_id}', { params: { path: { run_id } } })`. */
export const api = createClient<paths>({ baseUrl: location.origin })

type Problem = Partial<components['schemas']['Problem']>

/** What the server refused, or that it does not answer (code `no_server`). */
export class ApiProblem extends Error {
  override readonly name = 'ApiProblem'
  readonly code: string
  readonly status: number
  readonly problem: Problem

  constructor(problem: Problem, status: number, options?: ErrorOptions) {
    super(problem.detail ?? `The server answered ${status}.`, options)
    this.code = problem.code ?? 'unknown'
    this.status = status
    this.problem = problem
  }
}

interface Answered<T> {
  readonly data?: T
  readonly error?: unknown
  readonly response: Response
}

/** The answer's body; a refusal and a server that is away are thrown as ApiProblem. */
export async function answerOf<T>(asked: Promise<Answered<T>>): Promise<T> {
  const { data, error, response } = await asked.catch((cause: unknown) => {
    if (cause instanceof DOMException && cause.name === 'AbortError') throw cause
    const detail = 'The server does not answer. Is `sluice start` still running?'
    throw new ApiProblem({ code: 'no_server', detail }, 0, { cause })
  })
  if (data === undefined) throw new ApiProblem((error ?? {}) as Problem, response.status)
  return data
}

/** Whatever went wrong, as something that can be shown. */
export function asProblem(error: unknown): ApiProblem {
  if (error instanceof ApiProblem) return error
  const detail = error instanceof Error ? error.message : String(error)
  return new ApiProblem({ code: 'console_failed', detail }, 0, { cause: error })
}
