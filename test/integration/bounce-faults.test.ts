import { afterEach, describe, expect, test } from 'vitest'
import type { RunEvent } from '../../shared/runs/event.ts'
import { firstDaily } from '../how-much.ts'
import { block, bounce, expectFoldStored, goodFrom, probe, story } from './loop.ts'
import { openTestPlace, provider, type TestPlace } from './test-place.ts'

let open: TestPlace | undefined
/** Ends the functions that hang: a place that closes waits for them. */
let letGo = () => {}
afterEach(async () => {
  letGo()
  await open?.close()
  open = undefined
})

const LOOP = [block('plan'), block('build', ['plan']), block('review', ['build'], bounce('build', 2))]
const asks = { approval: { required: true, timeout_sec: 600 } }
const isAsked = (of: string, epoch: number) => (event: RunEvent) =>
  event.type === 'approval:requested' && event.block_id === of && event.data.approval_id.endsWith(`_${epoch}`)

describe('an approval in a bounce module', () => {
  test('is asked again in a new epoch for the blocks that begin again, and for them only', async () => {
    open = await openTestPlace({ providers: { probe: probe({ check: goodFrom(2), review: goodFrom(2) }) } })
    const blocks = [
      block('plan', [], asks),
      block('build', ['plan'], asks),
      block('check', ['build'], bounce('build', 1)),
      block('review', ['check'], bounce('plan', 1)),
    ]
    const id = await open.start({ blocks })
    for (const [of, epoch] of [
      ['plan', 0],
      ['build', 0],
      ['build', 1],
      ['plan', 2],
      ['build', 2],
    ] as const) {
      const asked = await open.until(id, isAsked(of, epoch))
      const { digest } = asked.data as { readonly digest: string }
      expect((await open.call('decide-approval', id, { block_id: of, decision: 'approve', digest })).status).toBe(200)
    }
    const told = story(await open.ended(id))
    expect(told.filter((line) => line.includes('approval:requested'))).toEqual([
      'plan approval:requested',
      'build approval:requested',
      'build approval:requested~1',
      'plan approval:requested~2',
      'build approval:requested~2',
    ])
    expect(told.at(-1)).toBe('run:completed')
    await expectFoldStored(open, id)
  })

  test('is refused in the second pass: the block fails there, and its rules do not look at that', async () => {
    open = await openTestPlace({ providers: { probe: probe({ review: goodFrom(9) }) } })
    const id = await open.start({ blocks: [block('build', [], asks), block('review', ['build'], bounce('build', 2))] })
    for (const [epoch, decision] of [
      [0, 'approve'],
      [1, 'reject'],
    ] as const) {
      const { data } = await open.until(id, isAsked('build', epoch))
      const { approval_id, digest } = data as { readonly approval_id: string; readonly digest: string }
      await open.call('decide-approval', id, { approval_id, decision, digest })
    }
    const told = story(await open.ended(id))
    expect(told.slice(-3)).toEqual(['build failed~1', 'review skipped~1', 'run:failed'])
  })

  test('that waits pauses the run: what stands behind the module is not about to start', async () => {
    open = await openTestPlace({ providers: { probe: probe({}) } })
    const blocks = [
      block('build'),
      block('review', ['build'], { ...bounce('build', 1), ...asks }),
      block('use', ['build']),
    ]
    const id = await open.start({ blocks })
    await open.until(id, isAsked('review', 0))
    const { json } = await open.call('get-run', id)
    expect(json).toMatchObject({ run: { state: 'paused_approval' } })
  })
})

describe('a run in the middle of a bounce', () => {
  /** A place in which the second round of build hangs until `go`. */
  async function hanging() {
    const { promise, resolve: go } = Promise.withResolvers<void>()
    let builds = 0
    const build = async (signal: AbortSignal) => {
      builds += 1
      const aborted = new Promise((_, no) => signal.addEventListener('abort', no))
      if (builds === 2) await Promise.race([promise, aborted])
      return 'text'
    }
    const hangs = provider(({ prompt, signal }) => {
      if (prompt.startsWith('review')) return builds > 1 ? 'good' : 'bad'
      return prompt.startsWith('build') ? build(signal) : 'text'
    })
    const place = await openTestPlace({ providers: { probe: hangs } })
    const id = await place.start({ blocks: [...LOOP, block('ship', ['review'])] })
    const { seq } = await place.until(id, ({ type }) => type === 'block:rerouted')
    await place.until(id, (event) => event.seq > seq && event.type === 'block:started')
    return { place, id, go }
  }

  test('goes on in its epoch after kill -9: the lost attempt is tried again, nothing before it is', async () => {
    const { place, id, go } = await hanging()
    open = place
    await place.kill({ providers: { probe: probe({ review: () => 'good' }) } })
    go()
    const told = story(await place.ended(id))
    expect(told.slice(told.indexOf('rerouted to build: build review (1/2)'))).toEqual([
      'rerouted to build: build review (1/2)',
      'build started~1',
      'build retrying~1',
      'build started~1',
      'build completed~1',
      'review started~1',
      'review completed~1',
      'ship started',
      'ship completed',
      'run:completed',
    ])
    await expectFoldStored(place, id)
  })

  test('shows nothing of a pass that is over: outputs of a block that begins again are not published', async () => {
    const { place, id, go } = await hanging()
    open = place
    const proxy = (block_id: string) => ({
      httpMethod: 'GET',
      path: '/',
      pathParameters: { run_id: id, block_id },
      queryStringParameters: null,
      headers: {},
      body: null,
      isBase64Encoded: false,
    })
    const statusOf = async (of: string) =>
      ((await place.place.invoke('get-outputs', proxy(of))) as { readonly statusCode: number }).statusCode
    expect([await statusOf('plan'), await statusOf('build')]).toEqual([200, 404])
    go()
    await place.ended(id)
    expect(await statusOf('build')).toBe(200)
  })

  test('can be stopped', async () => {
    const { place, id } = await hanging()
    open = place
    expect((await place.call('stop-run', id, {})).status).toBe(200)
    expect(story(await place.ended(id)).slice(-2)).toEqual(['build started~1', 'run:cancelled'])
    await expectFoldStored(place, id)
  })

  test('takes no notice of calls of an earlier pass', async () => {
    const { place, id, go } = await hanging()
    open = place
    const before = (await place.events(id)).length
    const input = { in: { v: 1, tenant: 'main', run_id: id }, e: 0 }
    for (const of of ['build', 'review']) {
      const report = await place.place.invoke('run-block', { ...input, block: of, joins: ['j'] })
      expect(report).toMatchObject({ block: of, e: 0 })
    }
    expect(await place.events(id)).toHaveLength(before)
    const join = { need: 1, token: 't' }
    expect(await place.place.world.runs.waitJoin({ tenant: 'main', run_id: id }, 'j', join)).toBe('waiting')
    go()
    expect(story(await place.ended(id)).at(-1)).toBe('run:completed')
  })
})

describe('close-module', () => {
  /** A run whose module is to be closed by the test: its machine is stopped before it can. */
  async function failedReview(blocks: readonly object[] = LOOP) {
    const place = await openTestPlace({ providers: { probe: probe({ review: goodFrom(2) }) } })
    let closing = () => {}
    const failed = new Promise<void>((resolve) => {
      closing = resolve
    })
    const { runs } = place.place.world
    const append = runs.append.bind(runs)
    const hold: typeof append = (change) => {
      if (change.lane !== 'm0') return append(change)
      closing()
      return new Promise((_, no) => {
        letGo = () => no(new Error('the function is gone'))
      })
    }
    Object.assign(runs, { append: hold })
    const id = await place.start({ blocks })
    await failed
    Object.assign(runs, { append })
    const close = (e: number) =>
      place.place.invoke('close-module', { in: { v: 1, tenant: 'main', run_id: id }, module: 0, e })
    return { place, id, close }
  }

  const reroutes = async (place: TestPlace, id: string) =>
    (await place.events(id)).filter(({ type }) => type === 'block:rerouted').length

  test('answers the same to two calls at once and to a later one, and sends back once', async () => {
    const { place, id, close } = await failedReview()
    open = place
    expect(await Promise.all([close(0), close(0)])).toEqual([
      { again: true, e: 1 },
      { again: true, e: 1 },
    ])
    expect(await close(0)).toEqual({ again: true, e: 1 })
    expect(await reroutes(place, id)).toBe(1)
    const head = await place.place.world.runs.head({ tenant: 'main', run_id: id })
    expect(head?.modules).toMatchObject({ 0: { epoch: 1, rules: { '2.0': { count: 1, epoch: 1 } } } })
  })

  const long = (i: number) => `b${i}${'x'.repeat(60)}`
  const chain = Array.from({ length: 80 }, (_, i) => block(long(i), i === 0 ? [] : [long(i - 1)]))
  const LONG = [...chain, block('review', [long(79)], bounce(long(0), 2))]

  for (const { tags, rows } of firstDaily<[string, readonly object[], number]>(1, [
    ['before its answer', LOOP, 2],
    ['between two parts of what it writes', LONG, 81],
  ])) {
    test.each(rows)('that died %s is finished by the next one', { tags }, async (_when, blocks, size) => {
      const { place, id, close } = await failedReview(blocks)
      open = place
      const { runs } = place.place.world
      const append = runs.append.bind(runs)
      const dies: typeof append = async (change) => {
        await append(change)
        throw new Error('the function is gone')
      }
      Object.assign(runs, { append: dies })
      await expect(close(0)).rejects.toThrow()
      Object.assign(runs, { append })
      const head = await place.place.world.runs.head({ tenant: 'main', run_id: id })
      expect(head?.modules[0]?.epoch ?? 0).toBe(size === 2 ? 1 : 0)
      expect(await close(0)).toEqual({ again: true, e: 1 })
      const events = await place.events(id)
      expect(events.flatMap(({ type, data }) => (type === 'block:rerouted' ? data.reset : []))).toHaveLength(size)
    })
  }

  test('knows the failed gates also when their projection was never written', async () => {
    open = await openTestPlace({ providers: { probe: probe({ review: goodFrom(3) }) } })
    const { runs } = open.place.world
    const append = runs.append.bind(runs)
    const withoutProjection: typeof append = ({ projection: _, ...change }) => append(change)
    Object.assign(runs, { append: withoutProjection })
    const id = await open.start({ blocks: [...LOOP, block('ship', ['review'])] })
    expect(story(await open.ended(id)).slice(-5)).toEqual([
      'review started~2',
      'review completed~2',
      'ship started',
      'ship completed',
      'run:completed',
    ])
  })
})
