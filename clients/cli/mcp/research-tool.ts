import * as z from 'zod'
import { RESEARCH_ROUTES } from '../../../shared/api/research-routes.ts'
import { callApi } from '../api.ts'
import { present } from './present.ts'
import { type ToolCall, tool } from './tool.ts'

const ASK = RESEARCH_ROUTES['start-research']
const GET = RESEARCH_ROUTES['get-research']

/** One look waits as long as the route allows; the first is short, so that a client soon sees the stage. */
const LOOKS_SEC = [2, 25] as const

/** The answer of the route, without its trace, or that there is none yet. */
const AnswerSchema = GET.answer
  .omit({ trace: true })
  .partial()
  .required({ run_id: true })
  .loose()
  .extend({ answered: z.boolean(), stage: z.string().optional().describe('The stage under way') })

export const RESEARCH_GRAPH = tool({
  name: 'research_graph',
  title: 'Ask the knowledge graph',
  description:
    'Asks the knowledge graph of the place: classified, routed, searched and answered with cited evidence within a token budget. Waits wait_sec seconds for the answer; while answered is false, run_status and watch_run tell of its run.',
  input: ASK.body.extend({
    wait_sec: z.int().min(1).max(600).default(120).describe('Seconds to wait for the answer at most'),
  }),
  output: AnswerSchema,
  async run({ wait_sec, ...question }, call) {
    const { run_id } = await callApi(call.target, ASK.answer.loose(), (api) =>
      api.POST('/api/research', { body: present(question), signal: call.signal }),
    )
    return await answerOf(run_id, wait_sec, call)
  },
})

async function answerOf(run_id: string, wait_sec: number, call: ToolCall): Promise<object> {
  let left = wait_sec
  for (let looks = 0; ; looks += 1) {
    const wait = Math.min(left, LOOKS_SEC[looks] ?? LOOKS_SEC[1])
    const seen = await look(run_id, wait, call)
    left -= wait
    if ('trace' in seen) {
      const { trace: _, ...answer } = seen
      return { ...answer, answered: true }
    }
    if (left <= 0) return { ...seen, answered: false }
    await call.progress(looks + 1, `stage ${seen.stage}`)
  }
}

function look(run_id: string, wait: number, { target, signal }: ToolCall) {
  const request = { params: { path: { run_id }, query: { wait } }, signal }
  return callApi(target, z.union([GET.answer.loose(), GET.also.answer.loose()]), (api) =>
    api.GET('/api/research/{run_id}', request),
  )
}
