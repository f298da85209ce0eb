import { existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import { firstDaily } from '../../how-much.ts'
import { asked, decide, expectVerified } from '../asks/ask-place.ts'
import { all, module, noneLeft, openStepPlace, type StepPlace, stepBlock } from './step-place.ts'

let place: StepPlace
afterEach(async () => {
  await noneLeft(place)
  await place.close()
})

const HELLO = module(`return { text: 'hello ' + call.inputs.who }`, { inputs: 'who: z.string()' })
const portValue = async (of: StepPlace, run: string, block: string, port: string) => {
  const events = await of.events(run)
  const ref = all(events, 'block:output').findLast(({ block_id }) => block_id === block)?.data.outputs[port]?.ref ?? ''
  return JSON.parse(Buffer.from(await of.place.world.objects.get('main', ref)).toString('utf8'))
}
const problemsOf = async (of: StepPlace, dag: object) => {
  const { json } = await of.call('validate-dag', '', { dag })
  return (json as unknown as { errors?: readonly { code: string; message: string }[] }).errors ?? []
}

describe('steps of a project', () => {
  test('a module and a program run behind their gates, wired to each other', async () => {
    place = await openStepPlace(
      { 'steps/hello.ts': HELLO, 'steps/loud.sh': 'read -r line; echo "{\\"text\\":\\"loud\\"}"; echo said >&2' },
      { programs: { './steps/loud.sh': { exec: ['sh', 'steps/loud.sh'], outputs: { text: 'string' } } } },
    )
    const run = await place.start({
      name: 'both',
      blocks: [
        stepBlock('a', './steps/hello.ts', {
          inputs: { who: { default: 'ana' } },
          post_gates: [{ name: 'hi', check: { type: 'contains', port: 'text', values: ['hello'] } }],
        }),
        stepBlock('b', './steps/loud.sh', { inputs: { text: { from: 'a.text' } } }),
      ],
    })
    const events = await place.ended(run)
    expect(events.at(-1)?.type).toBe('run:completed')
    expect(await portValue(place, run, 'a', 'text')).toBe('hello ana')
    expect(await portValue(place, run, 'b', 'text')).toBe('loud')
    expect(all(events, 'block:gate').map(({ data }) => data.status)).toEqual(['passed'])
    expect(all(events, 'block:output')[1]?.data.log?.tail).toEqual(['said'])
    await expectVerified(place, run)
  })

  test('the ports of a block are those of its step, and what does not fit is said with the nearest name', async () => {
    place = await openStepPlace({ 'steps/hello.ts': HELLO })
    const wrong = await problemsOf(place, {
      name: 'wrong',
      blocks: [
        stepBlock('a', './steps/hello.ts', { inputs: { whom: { default: 'ana' } } }),
        stepBlock('b', './steps/hallo.ts', {}),
        stepBlock('c', './steps/hello.ts', { inputs: { who: { from: 'a.txt' } } }),
      ],
    })
    const words = wrong.map(({ message }) => message).join('\n')
    expect(words).toContain('has the input "whom", which its step has not; it has "who". Did you mean "who"?')
    expect(words).toContain('./steps/hello.ts')
    expect(words).toMatch(/"?a\.txt"?/)
    expect(wrong.map(({ code }) => code)).toContain('unknown_step')
  })

  test('Retry waits as long as it says, Fail ends the block at once', { tags: ['thorough'] }, async () => {
    place = await openStepPlace({
      'steps/later.ts': module(`if (call.attempt === 1) throw new Retry(20, 'not yet'); return { text: 'now' }`),
      'steps/fails.ts': module(`throw new Fail('never')`),
    })
    const more = { retry: { max_attempts: 3, delay_ms: 0 } }
    const run = await place.start({
      name: 'r',
      blocks: [stepBlock('a', './steps/later.ts', more), stepBlock('b', './steps/fails.ts', more)],
    })
    const events = await place.ended(run)
    const [again] = all(events, 'block:retrying')
    expect(again?.data).toMatchObject({ code: 'step_failed', reason: 'the step: not yet' })
    const [first, second] = all(events, 'block:started').filter(({ block_id }) => block_id === 'a')
    const due = Date.parse(again?.data.due_at ?? '')
    expect(due - Date.parse(first?.at ?? '')).toBeGreaterThanOrEqual(20)
    expect(Date.parse(second?.at ?? '')).toBeGreaterThanOrEqual(due)
    expect(all(events, 'block:failed').map(({ data, attempt }) => [data.code, data.reason, attempt])).toEqual([
      ['step_failed', 'the step: never', 1],
    ])
  })

  test('outputs, inputs and config are checked by their schemas', { tags: ['thorough'] }, async () => {
    place = await openStepPlace({
      'steps/out.ts': module(`return { text: 7 }`),
      'steps/set.ts': module(`return { text: call.config.size + 1 + '' }`, {
        more: 'config: z.object({ size: z.number().max(5) }),',
      }),
    })
    const run = await place.start({
      name: 'r',
      blocks: [stepBlock('a', './steps/out.ts'), stepBlock('b', './steps/set.ts', {}, { size: 3 })],
    })
    const events = await place.ended(run)
    expect(all(events, 'block:failed')[0]?.data).toMatchObject({ code: 'step_outputs' })
    expect(await portValue(place, run, 'b', 'text')).toBe('4')
    const wrong = await problemsOf(place, { name: 'w', blocks: [stepBlock('b', './steps/set.ts', {}, { size: 'x' })] })
    expect(wrong.length).toBeGreaterThan(0)
  })

  test('its environment is what is declared, and a secret stands in no log, reason or progress', async () => {
    place = await openStepPlace(
      {
        'steps/env.ts': module(
          `call.log.info('the key is ' + call.secrets.API); console.log(call.secrets.API)
           call.progress(0.5, 'with ' + call.secrets.API)
           await new Promise((r) => setTimeout(r, 900))
           if (call.inputs.fail) throw new Error('refused ' + call.secrets.API)
           return { text: Object.keys(process.env).sort().join() }`,
          { inputs: 'fail: z.boolean()' },
        ),
      },
      { steps: { './steps/env.ts': { env: { MODE: 'test' }, secrets: { API: { env: 'THE_KEY' } } } } },
      { keys: new Map([['THE_KEY', 'tiger-seven-lamp']]) },
    )
    const block = (id: string, fail: boolean) =>
      stepBlock(id, './steps/env.ts', { inputs: { fail: { default: fail, type: 'boolean' } } })
    const run = await place.start({ name: 'env', blocks: [block('a', false), block('b', true)] })
    const events = await place.ended(run)
    expect(await portValue(place, run, 'a', 'text')).toBe('HOME,LANG,MODE,OUT,PATH,SLUICE_STEP,TMPDIR')
    expect(JSON.stringify(events)).not.toContain('tiger-seven-lamp')
    const log = all(events, 'block:output')[0]?.data.log
    expect(log?.tail).toContain('the key is [redacted]')
    const body = Buffer.from(await place.place.world.objects.get('main', log?.ref ?? '')).toString('utf8')
    expect(body).not.toContain('tiger-seven-lamp')
    expect(all(events, 'block:failed')[0]?.data.reason).toContain('refused [redacted]')
  })

  test('a step that heeds its signal ends within its time-out, and what it says then comes too late', {
    tags: ['thorough'],
  }, async () => {
    place = await openStepPlace({
      'steps/heeds.ts': module(
        `await new Promise((resolve) => call.signal.addEventListener('abort', resolve))
         writeFileSync(OUT + '/heeded', String(call.signal.reason)); return { text: 'late' }`,
      ),
    })
    const run = await place.start({
      name: 'r',
      blocks: [stepBlock('a', './steps/heeds.ts', { timeout_ms: 5_000, retry: { max_attempts: 1 } })],
    })
    const events = await place.ended(run)
    expect(await place.left('heeded')).toContain('it took longer than timeout_ms 5000')
    expect(all(events, 'block:failed')[0]?.data.code).toBe('block_timeout')
  })

  for (const { tags, rows } of firstDaily(1, ['a block', 'a run']))
    test.each(rows)('a stop of %s ends the process of a step at work, with all it started', { tags }, async (how) => {
      place = await openStepPlace({
        'steps/works.ts': module(
          `const { spawn } = await import('node:child_process')
           spawn('setsid', ['sleep', '1000'], { stdio: 'ignore' })
           writeFileSync(OUT + '/works', ''); await never()`,
        ),
      })
      const run = await place.start({ name: 'r', blocks: [stepBlock('a', './steps/works.ts')] })
      await place.left('works')
      const { status } = await place.call('stop-run', run, how === 'a block' ? { block_id: 'a' } : {})
      expect(status).toBeLessThan(300)
      const events = await place.ended(run)
      expect(all(events, 'block:completed')).toEqual([])
      await noneLeft(place)
      await expectVerified(place, run)
    })

  test('a place that is killed in the middle makes it again, as another attempt of the same try: with the same key', async () => {
    place = await openStepPlace({
      'steps/works.ts': module(
        `appendFileSync(OUT + '/keys', call.key + '\\n')
         if (call.attempt === 1) await never()
         return { text: call.key }`,
      ),
    })
    const run = await place.start({ name: 'r', blocks: [stepBlock('a', './steps/works.ts')] })
    await place.left('keys')
    await place.kill()
    const events = await place.ended(run)
    expect(events.at(-1)?.type).toBe('run:completed')
    expect(all(events, 'block:retrying').map(({ data }) => data.code)).toEqual(['ATTEMPT_LOST'])
    const keys = (await place.left('keys')).trim().split('\n')
    expect(keys).toEqual([`${run}/0/0/1/0`, `${run}/0/0/1/0`])
    expect(await portValue(place, run, 'a', 'text')).toBe(keys[1])
    await expectVerified(place, run)
  })

  test('a file that changes is taken by the next run, and not by one that began before', async () => {
    place = await openStepPlace({ 'steps/a.ts': module(`return { text: 'old' }`) })
    const dag = {
      name: 'r',
      blocks: [stepBlock('a', './steps/a.ts', { approval: { prompt: 'go?', timeout_sec: 600 } })],
    }
    const run = await place.start(dag)
    const question = await place.until(run, ({ type }) => type === 'approval:requested')
    place.write('steps/a.ts', module(`return { text: 'new' }`))
    const next = await place.start({ name: 'r', blocks: [stepBlock('a', './steps/a.ts')] })
    await place.ended(next)
    expect(await portValue(place, next, 'a', 'text')).toBe('new')
    if (question.type === 'approval:requested') await decide(place, run, question.data, 'approve')
    await place.ended(run)
    expect(await portValue(place, run, 'a', 'text')).toBe('old')
  })

  test('a program whose files changed under its run is not run; the next run takes them', async () => {
    place = await openStepPlace(
      { 'steps/a.sh': `echo '{"text":"old"}'` },
      { programs: { './steps/a.sh': { exec: ['sh', 'steps/a.sh'], outputs: { text: 'string' } } } },
    )
    const dag = { name: 'r', blocks: [stepBlock('a', './steps/a.sh', { approval: { prompt: 'go?' } })] }
    const approve = async (id: string) => {
      const question = await place.until(id, ({ type }) => type === 'approval:requested')
      if (question.type === 'approval:requested') await decide(place, id, question.data, 'approve')
    }
    const run = await place.start(dag)
    await place.until(run, ({ type }) => type === 'approval:requested')
    place.write('steps/a.sh', `echo '{"text":"new"}'`)
    await approve(run)
    const failed = all(await place.ended(run), 'block:failed')[0]?.data
    expect(failed).toMatchObject({ code: 'step_code_gone', reason: expect.stringContaining('Retry the run') })
    const { json } = await place.call('retry-run', run, {})
    const next = (json as unknown as { run_id: string }).run_id
    await approve(next)
    await place.ended(next)
    expect(await portValue(place, next, 'a', 'text')).toBe('new')
  })

  test('a step is given the inputs of its block, and none of the run that has the name of another', {
    tags: ['thorough'],
  }, async () => {
    place = await openStepPlace(
      {
        'steps/a.ts': module(`return { text: JSON.stringify(call.inputs) }`, {
          inputs: 'own: z.string(), other: z.string().optional(), list: z.array(z.string()).default([])',
        }),
        'steps/a.sh': `read -r given; echo "{\\"text\\":\\"$(echo "$given" | grep -o '"inputs":{[^}]*}' | tr -d '"')\\"}"`,
      },
      { programs: { './steps/a.sh': { exec: ['sh', 'steps/a.sh'], outputs: { text: 'string' } } } },
    )
    const given = { own: { type: 'string', default: 'mine' } }
    const run = await place.start({
      name: 'r',
      inputs: { other: { type: 'json', default: { taken: 1 } }, list: { type: 'json', default: 7 } },
      blocks: [
        stepBlock('a', './steps/a.ts', { inputs: given }),
        stepBlock('b', './steps/a.sh', { inputs: given }),
        stepBlock('c', './steps/a.ts', { foreach: { items: ['x'], as: 'own' } }),
      ],
    })
    expect((await place.ended(run)).at(-1)?.type).toBe('run:completed')
    expect(await portValue(place, run, 'a', 'text')).toBe('{"own":"mine","list":[]}')
    expect(await portValue(place, run, 'b', 'text')).toBe('inputs:{own:mine}')
    expect(await portValue(place, run, 'c', 'text')).toEqual(['{"own":"x","list":[]}'])
  })

  test('who mends a step and retries its run runs what was mended, and nothing that had completed', {
    tags: ['thorough'],
  }, async () => {
    const counted = (text: string) =>
      module(`appendFileSync(OUT + '/' + call.config.as, 'x'); ${text}`, {
        more: 'config: z.object({ as: z.string() }),',
      })
    place = await openStepPlace({
      'steps/well.ts': counted(`return { text: 'well' }`),
      'steps/wrong.ts': counted(`throw new Fail('a mistake')`),
    })
    const run = await place.start({
      name: 'r',
      blocks: [
        stepBlock('well', './steps/well.ts', {}, { as: 'well' }),
        stepBlock('wrong', './steps/wrong.ts', {}, { as: 'wrong' }),
      ],
    })
    await place.ended(run)
    place.write('steps/wrong.ts', 'export default {{')
    const refused = await place.call('retry-run', run, {})
    expect([refused.status, JSON.stringify(refused.json)]).toEqual([400, expect.stringContaining('steps/wrong.ts:1')])
    place.write('steps/wrong.ts', counted(`return { text: 'mended' }`))
    const { json } = await place.call('retry-run', run, {})
    const { run_id: next, reused_expected } = json as unknown as { run_id: string; reused_expected: string[] }
    expect(reused_expected).toEqual(['well'])
    expect((await place.ended(next)).at(-1)?.type).toBe('run:completed')
    expect(await portValue(place, next, 'wrong', 'text')).toBe('mended')
    expect([await place.left('well'), await place.left('wrong')]).toEqual(['x', 'xx'])
    await expectVerified(place, next)
    // Of a step that is gone its result is taken over all the same; what still has to run, runs as it is now.
    rmSync(join(place.project, 'steps/well.ts'))
    const again = (await place.call('retry-run', run, {})).json as unknown as { run_id: string }
    expect((await place.ended(again.run_id)).at(-1)?.type).toBe('run:completed')
    expect(await place.left('well')).toBe('x')
  })

  test('a secret that is missing fails the block before anything runs, and no step has one of another', async () => {
    const looks = module(`return { text: JSON.stringify([call.secrets, process.env]) }`)
    place = await openStepPlace(
      {
        'steps/has.ts': looks,
        'steps/has-none.ts': looks,
        'steps/misses.ts': module(`writeFileSync(OUT + '/ran', '')`),
      },
      {
        steps: {
          './steps/has.ts': { env: { MODE: 'of-one' }, secrets: { API: { env: 'THE_KEY' } } },
          './steps/misses.ts': { secrets: { API: { env: 'NO_KEY' } } },
        },
      },
      { keys: new Map([['THE_KEY', 'tiger-seven-lamp']]) },
    )
    const run = await place.start({
      name: 'r',
      blocks: ['has', 'has-none', 'misses'].map((name) => stepBlock(name.replace('-', '_'), `./steps/${name}.ts`)),
    })
    const events = await place.ended(run)
    expect(await portValue(place, run, 'has', 'text')).toContain('tiger-seven-lamp')
    expect(await portValue(place, run, 'has_none', 'text')).not.toMatch(/tiger-seven-lamp|of-one|THE_KEY/)
    const failed = all(events, 'block:failed')[0]
    expect(failed).toMatchObject({ block_id: 'misses', data: { code: 'step_secret_missing' } })
    expect(failed?.data.reason).toContain('environment variable NO_KEY is not set')
    expect(existsSync(join(place.out, 'ran'))).toBe(false)
  })

  test('goes over a list, an item at a time, and tries one again alone', { tags: ['thorough'] }, async () => {
    place = await openStepPlace({
      'steps/each.ts': module(
        `if (call.inputs.n === 2 && call.attempt === 1) throw new Error('again')
         return { text: 'row ' + call.inputs.n }`,
        { inputs: 'n: z.number()' },
      ),
    })
    const run = await place.start({
      name: 'each',
      blocks: [
        stepBlock('a', './steps/each.ts', {
          foreach: { items: [1, 2, 3], as: 'n', max_concurrency: 2 },
          retry: { max_attempts: 2, delay_ms: 0 },
        }),
      ],
    })
    const events = await place.ended(run)
    expect(events.at(-1)?.type).toBe('run:completed')
    expect(await place.call('get-run', run)).toMatchObject({ status: 200 })
    expect(all(events, 'step:started')).toHaveLength(4)
    await expectVerified(place, run)
  })

  test('is sent back to by a gate behind it, skipped by its condition, and asked about before it begins', {
    tags: ['thorough'],
  }, async () => {
    place = await openStepPlace({
      'steps/draft.ts': module(
        `appendFileSync(OUT + '/rounds', 'x'); return { text: readFileSync(OUT + '/rounds', 'utf8') + call.feedback.join() }`,
      ),
      'steps/judge.ts': module(`return { text: call.inputs.text }`, { inputs: 'text: z.string()' }),
    })
    const run = await place.start({
      name: 'r',
      blocks: [
        stepBlock('draft', './steps/draft.ts', { approval: { prompt: 'go?', timeout_sec: 600 } }),
        stepBlock('judge', './steps/judge.ts', {
          inputs: { text: { from: 'draft.text' } },
          post_gates: [{ name: 'two', check: { type: 'contains', port: 'text', values: ['xx'] }, on_fail: 'route' }],
          on_gate_fail: [{ when_gate: 'two', route_to: 'draft', max_bounces: 1 }],
        }),
        stepBlock('never', './steps/draft.ts', { inputs: {}, when: 'false' }),
      ],
    })
    for (const n of [1, 2]) {
      const question = await place.until(run, ({ type, seq }) => type === 'approval:requested' && (n === 1 || seq > 8))
      if (question.type === 'approval:requested') await decide(place, run, question.data, 'approve')
    }
    const events = await place.ended(run)
    expect(events.at(-1)?.type).toBe('run:completed')
    expect(all(events, 'block:skipped').map(({ block_id }) => block_id)).toEqual(['never'])
    expect(await portValue(place, run, 'judge', 'text')).toContain('two: ')
    await expectVerified(place, run)
  })
})

describe('artifacts of a step', () => {
  const KEEPS = module(
    `const ref = await call.artifacts.write(call.config.name, call.config.body, 'text/plain')
     return { text: call.config.body, kept: ref }`,
    { outputs: 'text: z.string(), kept: file()', more: 'config: z.object({ name: z.string(), body: z.string() }),' },
  )
  const READS = module(
    `let text = ''; for await (const piece of await call.artifacts.read(call.inputs.kept)) text += Buffer.from(piece)
     return { text }`,
    { inputs: 'kept: file()' },
  )
  const named = async (run: string) =>
    (await place.place.world.runs.artifacts({ tenant: 'main', run_id: run })).map(({ name }) => name)
  const gate = (on_fail: string) => ({
    name: 'g',
    check: { type: 'contains', port: 'text', values: ['good'] },
    on_fail,
  })

  test('are written and read by refs; a name that leads away is refused', async () => {
    place = await openStepPlace({ 'steps/keeps.ts': KEEPS, 'steps/reads.ts': READS })
    const run = await place.start({
      name: 'r',
      blocks: [
        stepBlock('a', './steps/keeps.ts', {}, { name: 'out/a.txt', body: 'good' }),
        stepBlock('b', './steps/reads.ts', { inputs: { kept: { from: 'a.kept' } } }),
        stepBlock('c', './steps/keeps.ts', { retry: { max_attempts: 1 } }, { name: '../a', body: 'x' }),
      ],
    })
    const events = await place.ended(run)
    expect(await portValue(place, run, 'b', 'text')).toBe('good')
    expect(await named(run)).toEqual(['out/a.txt'])
    expect(all(events, 'block:failed')[0]?.data.reason).toContain('an artifact cannot be named "../a"')
  })

  test('of an attempt a gate refused are nobody’s; with a waiver they are the run’s', {
    tags: ['thorough'],
  }, async () => {
    place = await openStepPlace({ 'steps/keeps.ts': KEEPS })
    const run = await place.start({
      name: 'r',
      blocks: [
        stepBlock('a', './steps/keeps.ts', { post_gates: [gate('fail')] }, { name: 'a.txt', body: 'bad' }),
        stepBlock('b', './steps/keeps.ts', { post_gates: [gate('ask')] }, { name: 'b.txt', body: 'bad' }),
      ],
    })
    const question = await asked(place, run, 'b')
    expect(await named(run)).toEqual([])
    await decide(place, run, question, 'waive', 'fine')
    await place.ended(run)
    expect(await named(run)).toEqual(['b.txt'])
    await expectVerified(place, run)
  })

  test('go along when a retry of the run takes the completed step over', async () => {
    place = await openStepPlace({
      'steps/keeps.ts': KEEPS,
      'steps/fails.ts': module(
        `if (!existsSync(OUT + '/mended')) throw new Fail('no'); return { text: call.inputs.text }`,
        { inputs: 'text: z.string()' },
      ),
    })
    const run = await place.start({
      name: 'r',
      blocks: [
        stepBlock('a', './steps/keeps.ts', {}, { name: 'a.txt', body: 'good' }),
        stepBlock('b', './steps/fails.ts', { inputs: { text: { from: 'a.text' } } }),
      ],
    })
    await place.ended(run)
    place.write('out/mended', '')
    const { json } = await place.call('retry-run', run, {})
    const next = (json as unknown as { run_id: string }).run_id
    const events = await place.ended(next)
    expect(events.at(-1)?.type).toBe('run:completed')
    expect(all(events, 'step:started').map(({ block_id }) => block_id)).toEqual(['b'])
    expect(await named(next)).toEqual(['a.txt'])
    await expectVerified(place, next)
  })
})
