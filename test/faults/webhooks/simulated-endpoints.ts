import { Fault } from '../../../shared/errors.ts'
import type { LimitedAnswer } from '../../../shared/gates/gate-ports.ts'
import { toldEndpoints } from '../../../shared/webhooks/endpoint-deliveries.ts'
import { BusSettingsSchema, WebhookSettingsSchema } from '../../../shared/webhooks/settings.ts'
import { openWebhooks } from '../../../shared/webhooks/signing.ts'
import type { World } from '../../../shared/world.ts'
import { hashed } from '../rng.ts'
import type { Sim } from '../sim.ts'

/** One message as it came to an endpoint. */
export interface Received {
  readonly endpoint: string
  readonly id: string
  readonly text: string
  readonly status: number | undefined
}

export interface SimulatedEndpoints extends Pick<World, 'http' | 'webhooks' | 'buses'> {
  readonly received: readonly Received[]
}

const KEY = { env: 'HOOK' }
const SECRET = 'whsec_c2ltdWxhdGVkIHNpbXVsYXRlZCBzaW11bGF0ZWQ='
const ENDS = ['run:completed', 'run:partial', 'run:blocked', 'run:failed', 'run:cancelled', 'run:iterated']

/** What sluice.yaml says of them: one is told of everything, one of questions and ends, one is another tenant's; all are given up soon. */
export const ENDPOINTS = WebhookSettingsSchema.parse([
  { name: 'all', url: 'https://all.example/', events: 'all', key: KEY, give_up_sec: 90 },
  { name: 'few', url: 'https://few.example/', events: [...ENDS, 'approval:requested'], key: KEY, give_up_sec: 60 },
  { name: 'others', tenant: 'other', url: 'https://others.example/', events: ENDS, key: KEY, give_up_sec: 60 },
])

/** And one bus. */
export const BUSES = BusSettingsSchema.parse([
  { name: 'bus', events: [...ENDS, 'approval:requested'], give_up_sec: 75 },
])

/** Everybody who is told. */
export const TOLD = toldEndpoints({ webhooks: ENDPOINTS, buses: BUSES })

/** Endpoints that take everything once it is calm; until then each fails as often as its seed says. */
export function createSimulatedEndpoints(sim: Sim, others: World['http']): SimulatedEndpoints {
  const received: Received[] = []
  return {
    received,
    webhooks: openWebhooks(ENDPOINTS, async () => SECRET),
    buses: {
      async put(name, { message: { id, text } }) {
        const answer = answerOf(sim, name, id)
        const taken = answer.kind === 'answered' && answer.status === 204
        received.push({ endpoint: name, id, text, status: taken ? 204 : undefined })
        if (!taken) throw new Fault('Unavailable', 'bus_refused', 'InternalFailure')
      },
    },
    http: {
      async request(request) {
        const endpoint = ENDPOINTS.find(({ url }) => url === request.url)?.name
        if (endpoint === undefined || request.signed === undefined) return others.request(request)
        const { id, text } = request.signed
        const answer = answerOf(sim, endpoint, id)
        received.push({ endpoint, id, text, status: answer.kind === 'answered' ? answer.status : undefined })
        return answer
      },
    },
  }
}

const SHARES = [0, 0.3, 0.95]

function answerOf(sim: Sim, endpoint: string, id: string): LimitedAnswer {
  const share = SHARES[Math.floor(hashed(sim.seed, `mood ${endpoint}`) * SHARES.length)] ?? 0
  const dice = hashed(sim.seed, `${id} ${sim.faults.times(`webhook ${id}`)}`)
  const answered = { kind: 'answered', url: '', body: '' } as const
  if (sim.scheduler.now() >= sim.calm_at || dice >= share) return { ...answered, status: 204 }
  if (dice < share * 0.4) return { kind: 'failed', reason: 'no whole answer within 10000 ms' }
  if (dice < share * 0.5) return { ...answered, status: 429, retry_after: '7' }
  return { ...answered, status: dice < share * 0.55 ? 410 : 500 }
}
