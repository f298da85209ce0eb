import { setTimeout as delay } from 'node:timers/promises'
import * as z from 'zod'
import { isSameRelease, type Routing, shiftRouting, takeBackRouting } from '../../../../shared/runs/release.ts'
import { followEvents } from '../../server/event-stream.ts'
import { count } from '../../terminal/format.ts'
import { ASKED, CHAIN, large, type ProofDocument, waiting, wide } from './proof-documents.ts'
import { NotHeld, type ProofStage, proofCalls } from './proof-stage.ts'

/** One thing that is to hold of a stage that stands. */
export interface ProofStep {
  readonly name: string
  /** What is claimed, as it stands in the report. */
  readonly claims: string
  /** What it starts, for the estimate. */
  readonly starts: readonly { readonly document: ProofDocument; readonly runs: number }[]
  /** Answers what was seen; throws what did not hold. */
  prove(stage: ProofStage): Promise<string>
}

/** In the order they are tried: each needs what those before it show. */
export function proofSteps(blocks: number): readonly ProofStep[] {
  return [HEALTH, RUNS, APPROVALS, STREAM, REDEPLOYED, RELEASED, THROTTLED, largeRun(blocks)]
}

const HEALTH: ProofStep = {
  name: 'health',
  claims: 'a signed request is answered, and the stage says it is well',
  starts: [],
  async prove(stage) {
    const { ask } = proofCalls(stage)
    const { status } = await ask(z.looseObject({ status: z.string() }), (api) => api.GET('/api/health'))
    if (status !== 'ok') throw new NotHeld(`GET /api/health says ${status}`)
    return 'GET /api/health says ok'
  },
}

const RUNS: ProofStep = {
  name: 'runs',
  claims: 'a document that comes with the request runs to its end behind a gate, and its record verifies',
  starts: [{ document: CHAIN, runs: 5 }],
  async prove(stage) {
    const { start, ends } = proofCalls(stage)
    const runs = await Promise.all(Array.from({ length: 5 }, () => start(CHAIN)))
    for (const run of runs) await ends(run)
    return `${count(runs.length, 'run')} at once of ${count(CHAIN.blocks.length, 'block')}, each completed and verified`
  },
}

const APPROVALS: ProofStep = {
  name: 'approvals',
  claims: 'a run waits for a yes; what was not shown is refused, a second decision too, and a no fails the run',
  starts: [{ document: ASKED, runs: 2 }],
  async prove(stage) {
    const { start, ends, question, decide } = proofCalls(stage)
    const yes = await start(ASKED)
    const asked = await question(yes)
    const other = await decide(yes, { ...asked, digest: '0'.repeat(asked.digest.length) }, 'approve')
    if (other < 400) throw new NotHeld(`a decision about another digest was taken (HTTP ${other})`)
    const taken = await decide(yes, asked, 'approve')
    if (taken !== 200) throw new NotHeld(`the decision was refused (HTTP ${taken})`)
    const again = await decide(yes, asked, 'reject')
    if (again < 400) throw new NotHeld(`a second, other decision was taken (HTTP ${again})`)
    await ends(yes)
    const no = await start(ASKED)
    await decide(no, await question(no), 'reject')
    await ends(no, 'failed')
    return `another digest HTTP ${other}, a second decision HTTP ${again}; yes completed, no failed, both verified`
  },
}

/** Long enough that events of before it arrive while it lasts. */
const PAUSE_SEC = 10

const STREAM: ProofStep = {
  name: 'stream',
  claims: 'events come while they happen; a stream that is cut off goes on where it was, each event once',
  starts: [{ document: waiting(PAUSE_SEC), runs: 1 }],
  async prove(stage) {
    const { start, events, ends } = proofCalls(stage)
    const runId = await start(waiting(PAUSE_SEC))
    const first = await readStream(stage, { runId, since: 0, enough: 2 })
    const rest = await readStream(stage, { runId, since: first.at(-1)?.seq ?? 0 })
    await ends(runId)
    const streamed = [...first, ...rest]
    const stored = await events(runId)
    const told = JSON.stringify(streamed.map(({ seq, type }) => `${seq} ${type}`))
    const kept = JSON.stringify(stored.map(({ seq, type }) => `${seq} ${type}`))
    if (told !== kept) throw new NotHeld(`the streams had ${told} and the record has ${kept}`)
    const ahead = ((streamed.at(-1)?.at ?? 0) - (first[0]?.at ?? 0)) / 1_000
    return `cut off after ${count(first.length, 'event')}, gone on with ${count(rest.length, 'event')}; the first came ${ahead.toFixed(1)} s before the last`
  },
}

interface Read {
  readonly runId: string
  readonly since: number
  /** So many events, then the connection is closed. */
  readonly enough?: number
}

/** Events as they came, with when that was. */
async function readStream({ target, signal }: ProofStage, { runId, since, enough = Number.POSITIVE_INFINITY }: Read) {
  const seen: { readonly seq: number; readonly type: string; readonly at: number }[] = []
  const cut = new AbortController()
  const follow = { runId, since, signal: AbortSignal.any([signal, cut.signal]) }
  for await (const { seq, type } of followEvents(target, follow)) {
    seen.push({ seq, type, at: performance.now() })
    if (seen.length >= enough) break
  }
  cut.abort()
  return seen
}

/** Between two starts while it is deployed. */
const START_EACH_MS = 5_000
/** A deployment takes minutes. */
const STARTS_RECKONED = 60

const REDEPLOYED: ProofStep = {
  name: 'redeploy',
  claims: 'runs that wait for a person, that wait for time, and that begin while other code is deployed all end well',
  starts: [
    { document: ASKED, runs: 2 },
    { document: waiting(PAUSE_SEC), runs: 2 },
    { document: CHAIN, runs: STARTS_RECKONED },
  ],
  async prove(stage) {
    const { start, ends, question, decide } = proofCalls(stage)
    const open = await Promise.all([start(ASKED), start(ASKED)])
    const questions = await Promise.all(open.map(async (run) => [run, await question(run)] as const))
    const waits = await Promise.all([start(waiting(PAUSE_SEC)), start(waiting(PAUSE_SEC))])
    const begun: string[] = []
    let deploying = true
    const deployed = stage.redeploy().finally(() => {
      deploying = false
    })
    const starting = (async () => {
      do {
        begun.push(await start(CHAIN))
        await Promise.race([delay(START_EACH_MS, undefined, { signal: stage.signal }), deployed])
      } while (deploying)
    })()
    // Nothing is taken down while it is deployed: both are waited for, whichever fails.
    const failed = (await Promise.allSettled([deployed, starting])).find(({ status }) => status === 'rejected')
    if (failed?.status === 'rejected') throw failed.reason
    for (const [run, asked] of questions) {
      const status = await decide(run, asked, 'approve')
      if (status !== 200) throw new NotHeld(`a decision asked for by the code of before was refused (HTTP ${status})`)
    }
    const after = await start(CHAIN)
    for (const run of [...open, ...waits, ...begun, after]) await ends(run)
    return `${count(open.length, 'run')} that waited for a person, ${waits.length} for time, ${begun.length} begun meanwhile and 1 after it: each completed and verified`
  },
}

/** Longer than a process of start-run believes what it read (functions/aws/releases.ts). */
const BELIEVED_MS = 12_000

const RELEASED: ProofStep = {
  name: 'release',
  claims:
    'the second deployment waits until it is shifted to, and is taken back by a command: runs begun before, between and after end well',
  starts: [
    { document: ASKED, runs: 1 },
    { document: CHAIN, runs: 2 },
  ],
  async prove(stage) {
    const { start, ends, question, decide } = proofCalls(stage)
    const releases = await stage.releases()
    const { deployed, by } = releases
    const route = async (next: (before: Routing) => Routing | undefined): Promise<Routing> => {
      const before = await releases.routing()
      if (before === undefined) throw new NotHeld('no run noted which release it began with')
      const asked = next(before)
      if (asked === undefined) throw new NotHeld(`release ${before.to.id} has none before it to take back to`)
      if (!(await releases.write(asked, before))) throw new NotHeld('somebody else changed the releases of this stage')
      await delay(BELIEVED_MS, undefined, { signal: stage.signal })
      return before
    }
    const now = () => ({ at: new Date().toISOString(), by })
    const open = await start(ASKED)
    const asked = await question(open)
    const first = await route((before) => shiftRouting(before, deployed, 100, now()))
    if (isSameRelease(first.to, deployed))
      throw new NotHeld(`runs began with ${deployed.id}, which was deployed second, before it was shifted to`)
    await ends(await start(CHAIN))
    await route((before) => takeBackRouting(before, now()))
    await ends(await start(CHAIN))
    const status = await decide(open, asked, 'approve')
    if (status !== 200)
      throw new NotHeld(`a decision that a run of the first release asked for was refused (HTTP ${status})`)
    await ends(open)
    return `${first.to.id}, then ${deployed.id}, then ${first.to.id} again: 3 runs, each completed and verified`
  },
}

/** What a new account may have for all of its functions. */
const AT_ONCE = 10
const WIDE_RUNS = 3
const WIDE = wide(30)

const THROTTLED: ProofStep = {
  name: 'throttling',
  claims: `with ${AT_ONCE} executions at once for ${WIDE_RUNS * WIDE.blocks.length} blocks that are ready, every block ends, none twice`,
  starts: [{ document: WIDE, runs: WIDE_RUNS }],
  async prove(stage) {
    const { start, ends, events } = proofCalls(stage)
    const limited = await stage.limitRunBlock(AT_ONCE)
    try {
      const runs = await Promise.all(Array.from({ length: WIDE_RUNS }, () => start(WIDE)))
      for (const run of runs) await ends(run)
      const all = await Promise.all(runs.map((run) => events(run)))
      const completed = all.map((of) => of.filter(({ type }) => type === 'block:completed').length)
      if (completed.some((n) => n !== WIDE.blocks.length)) throw new NotHeld(`blocks that completed: ${completed}`)
      return `${limited}; ${count(runs.length, 'run')} of ${count(WIDE.blocks.length, 'block')} at once, each completed and verified`
    } finally {
      await stage.limitRunBlock(undefined)
    }
  },
}

function largeRun(blocks: number): ProofStep {
  const document = large(blocks)
  return {
    name: 'large run',
    claims: `a run of ${blocks} blocks, five side by side, ends and verifies`,
    starts: [{ document, runs: 1 }],
    async prove(stage) {
      const { start, ends, events } = proofCalls(stage)
      const began = performance.now()
      const run = await start(document)
      await ends(run)
      const seconds = (performance.now() - began) / 1_000
      const stored = await events(run)
      return `${count(stored.length, 'event')}, completed and verified ${seconds.toFixed(0)} s after its start`
    },
  }
}
