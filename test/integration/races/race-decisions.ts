import { handler } from '../../../functions/api/decide-approval.ts'
import type { Principal } from '../../../shared/auth/principal.ts'
import type { RunEvent } from '../../../shared/runs/event.ts'
import type { Machine } from '../../../shared/runs/machine.ts'
import type { TestPlace } from '../test-place.ts'

/** What came of races of ten people who decide at the same moment. */
export interface RaceReport {
  readonly races: number
  readonly approved: number
  readonly rejected: number
  /** Races that have more or less than one decision, one resume and one end that follows from it, in words. */
  readonly wrong: readonly string[]
}

const DECIDERS = 10
/** Races under way at once: each run's end is waited for, and most of a run is waiting. */
const AT_ONCE = 10

const DAG = {
  name: 'race',
  blocks: [
    {
      id: 'deploy',
      outputs: { text: { type: 'string' } },
      agent: { provider: 'probe', model: 'm', prompt: 'done' },
      approval: true,
    },
  ],
}

/** Runs on a real place, each decided by ten people at once, some approving, some rejecting, in turns. */
export async function raceDecisions(open: TestPlace, races: number): Promise<RaceReport> {
  const resumes = countResumes(open.place.world.machine)
  const winners: string[] = []
  const wrong: string[] = []
  let next = 0
  const lane = async () => {
    for (let race = next++; race < races; race = next++) {
      const { winner, problems } = await raceOnce(open, race, resumes)
      winners.push(winner)
      wrong.push(...problems.map((problem) => `race ${race}: ${problem}`))
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, lane))
  const count = (decision: string) => winners.filter((winner) => winner === decision).length
  return { races: winners.length, approved: count('approve'), rejected: count('reject'), wrong }
}

/** How often each task token was answered so that its execution went on. */
function countResumes(machine: Machine): ReadonlyMap<string, number> {
  const resumes = new Map<string, number>()
  const answer = machine.answer.bind(machine)
  Object.assign(machine, {
    answer: async (token: string, result: Parameters<Machine['answer']>[1]) => {
      const done = await answer(token, result)
      if (done === 'taken') resumes.set(token, (resumes.get(token) ?? 0) + 1)
      return done
    },
  })
  return resumes
}

async function raceOnce(open: TestPlace, race: number, resumes: ReadonlyMap<string, number>) {
  const run_id = await open.start(DAG)
  const asked = await open.until(run_id, ({ type }) => type === 'approval:requested')
  if (asked.type !== 'approval:requested') throw new Error('not asked')
  const { approval_id, digest } = asked.data
  const tokens = await open.place.world.runs.approvalTokens({ tenant: 'main', run_id }, approval_id)
  const answers = await Promise.all(
    Array.from({ length: DECIDERS }, (_, i) => decide(open, run_id, { approval_id, digest, race, i })),
  )
  const events = await open.ended(run_id)
  const decided = events.filter(({ type }) => type === 'approval:decided')
  const [first] = decided
  const winner = first?.type === 'approval:decided' ? first.data.decision : 'nobody'
  const counts = {
    '200': answers.filter(({ status }) => status === 200).length,
    already_decided: answers.filter(({ code }) => code === 'already_decided').length,
    decided: decided.length,
    resumes: tokens.reduce((sum, token) => sum + (resumes.get(token) ?? 0), 0),
    started: events.filter(({ type }) => type === 'block:started').length,
    ends: endOf(events, winner),
  }
  const wanted = { '200': 1, already_decided: DECIDERS - 1, decided: 1, resumes: 1, ends: 'as decided' }
  const all = { ...wanted, started: winner === 'approve' ? 1 : 0 }
  const problems = Object.entries(all).flatMap(([name, value]) => {
    const seen = counts[name as keyof typeof counts]
    return seen === value ? [] : [`${name}: ${seen}, not ${value}`]
  })
  return { winner, problems }
}

/** The first to ask is an approver in every other race. */
async function decide(
  { place }: TestPlace,
  run_id: string,
  by: { readonly approval_id: string; readonly digest: string; readonly race: number; readonly i: number },
): Promise<{ readonly status: number; readonly code?: string }> {
  const { approval_id, digest, race, i } = by
  const scopes: Principal['scopes'] = ['runs:read', 'runs:write', 'approvals:decide']
  const principal = { kind: 'user', id: `decider-${i}`, tenant: 'main', scopes } as const
  const decision = (race + i) % 2 === 0 ? 'approve' : 'reject'
  const event = {
    httpMethod: 'POST',
    path: '/',
    pathParameters: { run_id },
    queryStringParameters: null,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ approval_id, decision, digest, feedback: `of decider ${i}` }),
    isBase64Encoded: false,
  }
  const answer = await handler(event, { world: place.world, principal } as Parameters<typeof handler>[1])
  const { statusCode, body } = answer as { readonly statusCode: number; readonly body: string }
  return { status: statusCode, code: (JSON.parse(body) as { readonly code?: string }).code ?? '' }
}

function endOf(events: readonly RunEvent[], winner: string): string {
  const last = events.at(-1)?.type
  const wanted = { approve: 'run:completed', reject: 'run:failed' }[winner]
  return last === wanted ? 'as decided' : `${last} after ${winner}`
}
