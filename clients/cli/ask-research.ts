import * as z from 'zod'
import { RESEARCH_ROUTES, type ResearchAnswer } from '../../shared/api/research-routes.ts'
import { callApi, type Target } from './api.ts'
import { patientCall } from './patient-call.ts'

/** A question as POST /api/research takes it. */
export interface AskedQuestion {
  readonly topic: string
  readonly hints?: Readonly<Record<string, string>>
  readonly budget_tokens?: number
  readonly max_iterations?: number
  readonly keep_unsupported?: boolean
}

export interface WaitHow {
  readonly signal?: AbortSignal
  /** The stage under way, each time it is looked at. */
  stage(name: string): void
}

/** Starts a research run and answers its id. */
export async function startResearch(target: Target, question: AskedQuestion): Promise<string> {
  const answer = RESEARCH_ROUTES['start-research'].answer.loose()
  const { run_id } = await callApi(target, answer, (api) => api.POST('/api/research', { body: question }))
  return run_id
}

/** The answer of a research run, once it has one. */
export async function awaitResearch(target: Target, runId: string, how: WaitHow): Promise<ResearchAnswer> {
  const signal = how.signal
  for (let wait = FIRST_WAIT_SEC; ; wait = WAIT_SEC) {
    const request = { params: { path: { run_id: runId }, query: { wait } }, ...(signal && { signal }) }
    const looked = await patientCall(
      () => callApi(target, LookSchema, (api) => api.GET('/api/research/{run_id}', request)),
      {
        note: (why) => how.stage(why),
        ...(signal && { signal }),
      },
    )
    if ('ended' in looked) return looked.ended
    how.stage(looked.stage)
  }
}

/** A short first wait, so that a person sees the stage of a long chain. */
const FIRST_WAIT_SEC = 2
/** The most the route allows. */
const WAIT_SEC = 25

const { answer, also } = RESEARCH_ROUTES['get-research']
const LookSchema = z.union([
  answer.loose().transform((ended) => ({ ended })),
  also.answer.loose().transform(({ stage }) => ({ stage })),
])
