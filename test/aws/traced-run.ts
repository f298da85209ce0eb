import { FUNCTIONS } from '../../shared/catalog.ts'
import { PRICES } from '../../shared/plan/aws-prices.ts'
import { FUNCTION_MB, QUANTITIES } from '../../shared/plan/cost.ts'
import { ROUTES } from '../../shared/routes.ts'
import type { Deployment, Through } from './deploy.ts'
import { openTableMeter } from './table-meter.ts'
import { type Passing, watchService } from './watched-service.ts'

/** Quantities of AWS's bills, by the words of shared/plan/cost.ts. */
export type Quantities = Readonly<Record<string, number>>

type Counts = Map<string, number>

/**
 * Counts what functions ask of AWS, by function: read routes, which a test asks in order to look, and functions that
 * time calls (their cost is idle cost) are left out.
 */
export function openTrace() {
  const counts: Counts = new Map()
  const add = (what: string, amount: number) => counts.set(what, (counts.get(what) ?? 0) + amount)
  const open: { close(): unknown }[] = []
  const through: Through = async (service, endpoint) => {
    const meter = openTableMeter(endpoint)
    const ofTable = async ({ operation, body }: Passing) => {
      const end = await meter.begin(operation, JSON.parse(body.toString()))
      return async (refused: boolean) => {
        const { wcu, rcu } = await end(refused)
        add('table write units', wcu)
        add('table read units', rcu)
      }
    }
    const ofObjects = async ({ operation }: Passing) => {
      add(operation === 'PUT' ? 'objects written' : 'objects read', 1)
      return async () => {}
    }
    const count = service === 's3' ? ofObjects : ofTable
    const watched = await watchService(endpoint, async (passing) =>
      isLooking(passing.principal.replace('sluice-dev-', '')) ? async () => {} : count(passing),
    )
    open.push(meter, watched)
    return watched.endpoint
  }
  return {
    through,
    /** What has been counted so far. */
    counted: (): Quantities => Object.fromEntries(counts),
    close: () => Promise.all(open.map((one) => one.close())),
  }
}

/** What rules call each minute or hour. */
const TIMED = ['sweep', 'index-graph', 'clear-machines']

/** Routes that change nothing, and what time calls. */
function isLooking(name: string): boolean {
  return TIMED.includes(name) || ROUTES.some((route) => route.name === name && route.method === 'GET')
}

/** Everything counted so far in a deployment, with the executions of these runs. */
export function quantities(
  place: Deployment,
  counted: Quantities,
  runs: readonly string[],
  requests: number,
): Quantities {
  const calls = FUNCTIONS.flatMap(({ name }) => {
    const sandboxes = place.functions.get(`sluice-dev-${name}`)
    return sandboxes === undefined || isLooking(name) ? [] : [{ name, ...sandboxes.counts, logs: sandboxes.logs }]
  })
  const invoked = calls.reduce((sum, { invoked: times }) => sum + times, 0)
  const gb = calls.reduce((sum, { name, invoked: times }) => sum + (times * (FUNCTION_MB[name] ?? 256)) / 1_024, 0)
  const recorded = runs.flatMap((run) => place.states.recorded(run))
  const events = recorded.reduce((sum, { counted: of }) => sum + of, 0)
  const written = calls.reduce((sum, { logs }) => sum + logs.reduce((bytes, text) => bytes + bytesOf(text), 0), 0)
  return {
    ...counted,
    'state transitions': recorded.reduce((sum, { transitions }) => sum + transitions, 0),
    'Lambda requests': invoked,
    'Lambda GB-seconds': gb * QUANTITIES.seconds_a_call,
    'API requests': requests,
    traces: recorded.length + requests,
    'log GB': (written + invoked * BYTES_OF_LAMBDA + events * BYTES_AN_EVENT + requests * BYTES_A_REQUEST) / 1e9,
  }
}

/** What 1,000 such runs cost. */
export function usdOf(run: Quantities): number {
  return Object.entries(PRICE_OF).reduce((sum, [what, price]) => sum + (run[what] ?? 0) * price * 1_000, 0)
}

/** By the words of the bill's lines. */
const PRICE_OF: Quantities = {
  'state transitions': PRICES.transition,
  'Lambda requests': PRICES.lambda_request,
  'Lambda GB-seconds': PRICES.lambda_gb_second,
  'table write units': PRICES.write_unit,
  'table read units': PRICES.read_unit,
  'objects written': PRICES.s3_put,
  'objects read': PRICES.s3_get,
  'API requests': PRICES.api_request,
  'log GB': PRICES.log_gb,
  traces: PRICES.trace,
}

/** CloudWatch counts 26 bytes more for each event. */
const A_LINE = 26
function bytesOf(text: string): number {
  return Buffer.byteLength(text) + A_LINE * (text.match(/\n/g)?.length ?? 0)
}
/** START, END, REPORT with its trace. */
const BYTES_OF_LAMBDA = 480
/** A history event without data, level ALL. */
const BYTES_AN_EVENT = 350
/** A line of the access log (infra/aws/api-stack.ts). */
const BYTES_A_REQUEST = 450
