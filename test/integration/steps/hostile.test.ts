import { createConnection } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { atMost, firstDaily } from '../../how-much.ts'
import { expectVerified } from '../asks/ask-place.ts'
import { all, module, noneCalled, noneLeft, openStepPlace, type StepPlace, stepBlock } from './step-place.ts'

const ANY = { outputs: 'text: z.any()' }
/** Ends no sooner than everybody here, and is found by its number: it carries nothing else of the attempt. */
const ORPHAN = String(10_000_000 + process.pid)
const LEAVES_IT = `
  const { spawn } = await import('node:child_process')
  spawn('env', ['-i', 'setsid', 'sleep', '${ORPHAN}'], { stdio: 'ignore', detached: true }).unref()
  await new Promise((resolve) => setTimeout(resolve, 50))`

interface Wanted {
  readonly code: string
  readonly says: string
}

/** What a step does to the place, and the code and words its attempt ends with. Of each kind one stands first. */
const HOSTILE: Readonly<Record<string, readonly [string, Wanted]>> = {
  'ends its process in the middle': [
    module(`process.exit(7)`),
    { code: 'step_crashed', says: 'ended with exit code 7 before it had answered' },
  ],
  'kills itself': [
    module(`process.kill(process.pid, 'SIGSEGV'); await never()`),
    { code: 'step_crashed', says: 'ended with signal SIGSEGV before it had answered' },
  ],
  'leaves its group, its session and its environment': [
    module(`${LEAVES_IT}; throw new Error('left it running')`),
    { code: 'step_failed', says: 'the step: Error: left it running' },
  ],
  'leaves them, its folder too, and is killed a while later': [
    module(
      `const { spawn } = await import('node:child_process')
       spawn('sleep', ['${ORPHAN}'], { stdio: 'ignore', detached: true, cwd: '/', env: {} }).unref()
       await new Promise((resolve) => setTimeout(resolve, 1_000)); process.kill(process.pid, 'SIGKILL')`,
    ),
    { code: 'step_crashed', says: 'ended with signal SIGKILL' },
  ],
  'doubles its processes': [
    module(
      `const { spawn } = await import('node:child_process')
       const bomb = 'f() { [ $1 -gt 0 ] && { f $(($1-1)) & f $(($1-1)) & }; sleep ${ORPHAN}; }; f 8'
       spawn('sh', ['-c', bomb], { stdio: 'ignore' }); await never()`,
    ),
    { code: 'step_memory', says: 'MB are allowed. Raise memory_mb under steps' },
  ],
  'writes garbage on the channel': [
    module(`writeFileSync(3, 'garbage\\n'); await never()`),
    { code: 'step_answer', says: 'the step wrote "garbage" on descriptor 3' },
  ],
  'says a line without end on the channel': [
    module(`for (let i = 0; i < 200; i += 1) writeFileSync(3, 'x'.repeat(65536)); await never()`),
    { code: 'step_answer', says: 'the step ' },
  ],
  'takes more memory than it may': [
    module(
      `const kept = []; for (;;) { kept.push(Buffer.alloc(8_388_608, 1)); await new Promise((r) => setTimeout(r, 5)) }`,
    ),
    { code: 'step_memory', says: 'MB are allowed. Raise memory_mb under steps' },
  ],
  'fills its heap': [
    module(`const kept = []; for (;;) kept.push(new Array(100_000).fill({ at: kept.length }))`),
    { code: 'step_memory', says: 'Raise memory_mb under steps' },
  ],
  'returns more than it may': [
    module(`return { text: 'x'.repeat(4_300_000) }`),
    { code: 'step_answer', says: 'at most 4194304 are allowed. Write large bodies as artifacts' },
  ],
  'writes an artifact without end': [
    module(
      `async function* endless() { for (;;) { yield Buffer.alloc(1_048_576); await new Promise(setImmediate) } }
       await call.artifacts.write('endless', endless())`,
    ),
    { code: 'step_failed', says: 'artifact "endless" has more than the 67108864 bytes that are allowed' },
  ],
  'names a pipe as an artifact': [
    module(
      `const { execFileSync } = await import('node:child_process')
       const file = process.env.TMPDIR + '/pipe'
       execFileSync('mkfifo', [file])
       for (let id = 101; id < 110; id += 1) writeFileSync(3, JSON.stringify({ type: 'write', id, name: 'a', file }) + '\\n')
       throw new Error('the place waits for none')`,
    ),
    { code: 'step_failed', says: 'the place waits for none' },
  ],
  'returns what holds itself': [
    module(`const a = {}; a.a = a; return { text: a }`, ANY),
    { code: 'step_outputs', says: 'nests deeper than 64 levels, or holds itself' },
  ],
  'returns thousands of brackets, past all checks': [
    module(
      `writeFileSync(3, '{"type":"returned","outputs":{"text":' + '['.repeat(20_000) + ']'.repeat(20_000) + '}}\\n'); await never()`,
    ),
    { code: 'step_outputs', says: 'what the step returned nests too deep: text, more than 64 levels' },
  ],
  'throws megabytes of words': [
    module(`throw new Error('x'.repeat(9_000_000))`),
    { code: 'step_failed', says: 'the step: Error: xxx' },
  ],
  'forgets a promise that fails': [
    module(`Promise.reject(new Error('nobody caught it')); await never()`),
    { code: 'step_failed', says: 'the step: Error: nobody caught it' },
  ],
  'ends its process as if all were well': [
    module(`process.exit(0)`),
    { code: 'step_crashed', says: 'ended with exit code 0 before it had answered' },
  ],
  'aborts, with room in its heap': [
    module(`process.abort()`),
    { code: 'step_crashed', says: 'ended with signal SIGABRT before it had answered' },
  ],
  'goes round for ever': [
    module(`for (;;) {}`),
    { code: 'block_timeout', says: 'the step took longer than timeout_ms 3000' },
  ],
  'waits for ever and heeds no signal': [
    module(`await never()`),
    { code: 'block_timeout', says: 'the step took longer than timeout_ms 3000' },
  ],
  'starts itself again and again, in its group': [
    module(
      `const { spawn } = await import('node:child_process')
       for (let i = 0; i < 20; i += 1) spawn('sh', ['-c', 'while :; do sh -c "sleep 100" & sleep 1; done'], { stdio: 'ignore' })
       await never()`,
    ),
    { code: 'block_timeout', says: 'the step took longer than timeout_ms 3000' },
  ],
  'leaves its group': [
    module(
      `const { spawn } = await import('node:child_process')
       for (let i = 0; i < 5; i += 1) spawn('setsid', ['sh', '-c', 'sleep 1000 & sleep 1000'], { stdio: 'ignore', detached: true }).unref()
       await new Promise((resolve) => setTimeout(resolve, 300))
       throw new Error('left them running')`,
    ),
    { code: 'step_failed', says: 'the step: Error: left them running' },
  ],
  'leaves them, and ends its process': [
    module(`${LEAVES_IT}; process.exit(3)`),
    { code: 'step_crashed', says: 'ended with exit code 3' },
  ],
  'writes messages nobody knows on the channel': [
    module(`writeFileSync(3, '{"type":"log","level":"loud","text":7}\\n'); await never()`),
    { code: 'step_answer', says: 'on descriptor 3, on which its process talks with the place' },
  ],
  'writes artifacts without end': [
    module(`for (let i = 0; ; i += 1) await call.artifacts.write('a' + i, '')`),
    { code: 'step_failed', says: 'at most 1000 artifacts are kept of one attempt' },
  ],
  'returns a big integer': [
    module(`return { text: 10n }`, ANY),
    { code: 'step_outputs', says: 'what it returned is no JSON: text is a bigint' },
  ],
  'returns what throws when it is written': [
    module(`return { text: { toJSON() { throw new Error('not me') } } }`, ANY),
    { code: 'step_failed', says: 'the step: Error: not me' },
  ],
  'returns what is no object': [
    module(`return ['text']`),
    { code: 'step_outputs', says: 'the step: what it returned does not fit' },
  ],
  'throws what is no error': [module(`throw { a: 1 }`), { code: 'step_failed', says: 'the step: it threw {"a":1}' }],
  'throws what JSON has no word for': [module(`throw 10n`), { code: 'step_failed', says: 'the step: it threw 10n' }],
  'throws words that are escaped': [
    module(`throw new Error('\\0'.repeat(900))`),
    { code: 'step_failed', says: 'the step: Error: \0\0\0' },
  ],
  'throws words of another script': [
    module(`console.log('字'.repeat(900)); throw new Error('字'.repeat(900))`),
    { code: 'step_failed', says: 'the step: Error: 字字字' },
  ],
  'closes its channel and goes on': [
    module(`const { closeSync } = await import('node:fs'); closeSync(3); setInterval(() => {}, 1000); await never()`),
    { code: 'block_timeout', says: 'the step took longer than timeout_ms 3000' },
  ],
}

const PROGRAMS: Readonly<Record<string, readonly [readonly string[], Wanted]>> = {
  'answers what is no JSON': [
    ['sh', '-c', 'echo it is done'],
    { code: 'step_answer', says: 'its answer is no JSON object: it wrote "it is done"' },
  ],
  'answers 1 GB': [
    ['sh', '-c', 'yes | head -c 1000000000'],
    { code: 'step_answer', says: 'its answer is longer than 4194304 bytes' },
  ],
  'is not there': [['./no-such-program'], { code: 'step_not_started', says: 'it cannot be started' }],
  'leaves a link to a file of the machine': [
    [
      'sh',
      '-c',
      'D=$(sed "s/.*\\"artifacts\\":\\"\\([^\\"]*\\)\\".*/\\1/"); ln -s /etc/passwd "$D/stolen"; echo "{\\"text\\":\\"artifacts/stolen\\"}"',
    ],
    { code: '', says: '' },
  ],
  'leaves a pipe among its artifacts': [
    [
      'sh',
      '-c',
      'D=$(sed "s/.*\\"artifacts\\":\\"\\([^\\"]*\\)\\".*/\\1/"); mkfifo "$D/pipe"; echo "{\\"text\\":\\"artifacts/pipe\\"}"',
    ],
    { code: '', says: '' },
  ],
  'has its output open when it has ended': [
    ['sh', '-c', `sleep ${ORPHAN} & echo '{"text":"x"}'`],
    { code: '', says: '' },
  ],
  'answers a hundred thousand brackets': [
    ['sh', '-c', 'printf "{\\"text\\":"; yes [ | head -n 100000; yes ] | head -n 100000; echo "}"'],
    { code: 'step_outputs', says: 'nests deeper than 64 levels' },
  ],
  'answers nothing': [['true'], { code: 'step_answer', says: 'it wrote nothing' }],
  'answers a list': [['echo', '[1]'], { code: 'step_answer', says: 'no object with a value for each output' }],
  'ignores that it is to end': [
    ['sh', '-c', 'trap "" TERM; while :; do sleep 1; done'],
    { code: 'block_timeout', says: 'the step took longer than timeout_ms 3000' },
  ],
  'answers what JavaScript has and JSON has not': [
    ['echo', '{"text":NaN}'],
    { code: 'step_answer', says: 'its answer is no JSON object: it wrote "{\\"text\\":NaN}"' },
  ],
  'answers with the prototype of all': [['echo', '{"__proto__":{"polluted":1},"text":"x"}'], { code: '', says: '' }],
  'leaves its group, its session and its environment': [
    ['sh', '-c', `env -i setsid sleep ${ORPHAN} < /dev/null > /dev/null 2>&1 & echo '{"text":"x"}'`],
    { code: '', says: '' },
  ],
  'ends badly': [['sh', '-c', 'exit 9'], { code: 'step_failed', says: 'it ended with exit code 9' }],
}

/** 1 GB in the whole run. */
const LOUD_BYTES = atMost(1_000_000_000, 20_000_000)

/** 20 MB, and how writing them ended. */
const LOUD = `sleep 0.2; yes | head -c 20000000 >&2; echo $? >&2; echo '{"text":"x"}'`

let place: StepPlace
type Row<Work> = readonly [name: string, path: string, wanted: Wanted, work: Work]
const rowsOf = <Work>(of: Readonly<Record<string, readonly [Work, Wanted]>>, path: (i: number) => string) =>
  Object.entries(of).map(([name, [work, wanted]], i): Row<Work> => [name, path(i), wanted, work])
const modules = rowsOf(HOSTILE, (i) => `./steps/m${i}.ts`)
const programs = rowsOf(PROGRAMS, (i) => `./steps/p${i}.sh`)

/** Without an end of their own: they end together, in one run, which takes as long as one of them. */
const isLate = ([, , { code }]: Row<unknown>) => code === 'block_timeout'
const isOver = (row: Row<unknown>) => !isLate(row)

beforeAll(async () => {
  const files = Object.fromEntries(modules.map(([, path, , text]) => [path.slice(2), text]))
  const named = Object.fromEntries(programs.map(([, path, , exec]) => [path, { exec }]))
  place = await openStepPlace(
    { ...files, 'steps/well.ts': module(`return { text: 'well' }`) },
    {
      programs: { ...named, './steps/loud.sh': { exec: ['sh', '-c', LOUD] } },
      // What goes on to start processes is ended by its time-out, whatever they weigh.
      steps: Object.fromEntries(
        [...modules, ...programs].map(([name, path]) => [
          path,
          { memory_mb: /again and again/.test(name) ? 8_192 : 256 },
        ]),
      ),
    },
  )
})
afterAll(async () => {
  try {
    // Whatever was done to it, the place runs steps as before.
    expect((await endOf('./steps/well.ts')).failed).toBeUndefined()
    await noneLeft(place)
  } finally {
    await place.close()
  }
})

/** Long enough for all that ends by itself. */
const LONG_MS = 120_000

const once = (timeout_ms: number, outputs?: object) => ({
  timeout_ms,
  retry: { max_attempts: 1 },
  ...(outputs === undefined ? {} : { outputs }),
})

async function endOf(handler: string, outputs?: object) {
  const run = await place.start({ name: 'hostile', blocks: [stepBlock('a', handler, once(LONG_MS, outputs))] })
  const events = await place.ended(run)
  await expectVerified(place, run)
  return { run, events, failed: all(events, 'block:failed')[0]?.data }
}

async function endLate() {
  const blocks = [
    ...modules.filter(isLate).map(([, path]) => stepBlock(idOf(path), path, once(3_000))),
    ...programs.filter(isLate).map(([, path]) => stepBlock(idOf(path), path, once(3_000, { text: 'string' }))),
  ]
  const run = await place.start({ name: 'late', blocks })
  const events = await place.ended(run)
  await expectVerified(place, run)
  expect(await place.place.world.runs.artifacts({ tenant: 'main', run_id: run })).toEqual([])
  return events
}

/** "./steps/m3.ts" is block m3. */
const idOf = (path: string) => path.split(/[/.]/).at(-2) ?? ''

/** Nothing that a step of this place started is left. */
async function nobodyLeft(): Promise<void> {
  await noneLeft(place)
  await noneCalled(ORPHAN)
}

describe('a step that', () => {
  for (const { tags, rows } of firstDaily(12, modules.filter(isOver)))
    test.each(rows)('%s ends its attempt with the reason, and nothing else', { tags }, async (_name, path, wanted) => {
      const { failed } = await endOf(path)
      expect(failed?.code).toBe(wanted.code)
      expect(failed?.reason).toContain(wanted.says)
      await nobodyLeft()
    })

  test('says more than anybody hears is heard to its end', async () => {
    place.write(
      'steps/floods.ts',
      module(
        `for (let i = 0; i < 300_000; i += 1) { call.progress(i / 300_000, 'row ' + i); call.log.info('row ' + i) }
         call.log.warn('y'.repeat(9_000_000))
         await call.artifacts.write('kept.txt', 'kept')
         return { text: 'flooded' }`,
      ),
    )
    const { run, events, failed } = await endOf('./steps/floods.ts')
    expect(failed).toBeUndefined()
    const log = all(events, 'block:output')[0]?.data.log
    expect(log).toMatchObject({ cut: true, lines: 300_001, tail: expect.arrayContaining(['row 299999']) })
    expect(all(events, 'step:progress').length).toBeLessThanOrEqual(18)
    expect(await place.place.world.runs.artifacts({ tenant: 'main', run_id: run })).toHaveLength(1)
  })

  test('names a file of the machine as an artifact has none of it', async () => {
    place.write(
      'steps/names.ts',
      module(
        `const { symlinkSync } = await import('node:fs')
         const file = process.env.TMPDIR + '/link'
         symlinkSync('/etc/passwd', file)
         for (const one of [file, '/etc/passwd']) {
           writeFileSync(3, JSON.stringify({ type: 'write', id: 777, name: 'stolen', file: one }) + '\\n')
         }
         await call.artifacts.write('own.txt', 'own')
         return { text: 'x' }`,
      ),
    )
    const { run, failed } = await endOf('./steps/names.ts')
    expect(failed).toBeUndefined()
    const kept = await place.place.world.runs.artifacts({ tenant: 'main', run_id: run })
    expect(kept.map(({ name }) => name)).toEqual(['own.txt'])
  })

  test('does not wait for what it asked is heard all the same', async () => {
    place.write(
      'steps/hurries.ts',
      module(
        `for (let i = 0; i < 100; i += 1) void call.artifacts.write('a' + i, 'x').catch(() => undefined)
         const until = Date.now() + 300
         while (Date.now() < until) if (Date.now() % 50 === 0) await new Promise(setImmediate)
         return { text: 'x' }`,
      ),
    )
    for (let time = 0; time < atMost(3); time += 1) expect((await endOf('./steps/hurries.ts')).failed).toBeUndefined()
  })

  test('listens to a port does so until its attempt ends', async () => {
    place.write(
      'steps/listens.ts',
      module(
        `const { createServer } = await import('node:net')
         const server = createServer()
         await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
         return { text: String(server.address().port) }`,
      ),
    )
    const { events } = await endOf('./steps/listens.ts')
    const ref = all(events, 'block:output')[0]?.data.outputs.text?.ref ?? ''
    const port = Number(JSON.parse(Buffer.from(await place.place.world.objects.get('main', ref)).toString('utf8')))
    const refused = new Promise((resolve) => {
      const socket = createConnection({ port, host: '127.0.0.1' })
      socket.once('connect', () => resolve('somebody answers'))
      socket.once('error', (error) => resolve('code' in error ? error.code : error))
    })
    expect(await refused).toBe('ECONNREFUSED')
  })

  test(`writes ${LOUD_BYTES} bytes on standard output and standard error has a log with its beginning and its end`, async () => {
    place.write(
      'steps/loud.ts',
      module(
        `const { spawnSync } = await import('node:child_process')
         console.log('first')
         spawnSync('sh', ['-c', 'yes | head -c ${LOUD_BYTES}; yes err | head -c ${LOUD_BYTES / 10} >&2'], { stdio: 'inherit' })
         console.log('last')
         return { text: 'loud' }`,
      ),
    )
    const run = await place.start({
      name: 'loud',
      blocks: [stepBlock('a', './steps/loud.ts', { timeout_ms: 300_000 })],
    })
    const log = all(await place.ended(run), 'block:output')[0]?.data.log
    expect(log?.cut).toBe(true)
    expect(log?.lines).toBeGreaterThan(LOUD_BYTES / 2)
    expect(log?.bytes).toBeLessThan(1_200_000)
    const body = Buffer.from(await place.place.world.objects.get('main', log?.ref ?? '')).toString('utf8')
    expect(body.startsWith('first\n')).toBe(true)
    expect(body).toContain('\n[..]\n')
    expect(body.trimEnd().endsWith('last')).toBe(true)
  })

  test('puts __proto__ and ports it does not have into its outputs changes nothing of the place', async () => {
    place.write('steps/proto.ts', module(`return JSON.parse('{"text":"x","__proto__":{"polluted":1},"more":2}')`))
    const { failed } = await endOf('./steps/proto.ts')
    expect(failed).toBeUndefined()
    expect(Reflect.get({}, 'polluted')).toBeUndefined()
  })
})

describe('a program that', () => {
  for (const { tags, rows } of firstDaily(4, programs.filter(isOver)))
    test.each(rows)('%s ends its attempt with the reason, and nothing else', { tags }, async (_name, path, wanted) => {
      const { failed, run } = await endOf(path, { text: 'string' })
      expect(failed?.code ?? '').toBe(wanted.code)
      expect(failed?.reason ?? '').toContain(wanted.says)
      expect(await place.place.world.runs.artifacts({ tenant: 'main', run_id: run })).toEqual([])
      await nobodyLeft()
    })

  test('writes more on standard error than anybody holds is not stopped by it', async () => {
    const { failed, events } = await endOf('./steps/loud.sh', { text: 'string' })
    expect(failed).toBeUndefined()
    expect(all(events, 'block:output')[0]?.data.log).toMatchObject({ cut: true, tail: expect.arrayContaining(['0']) })
  })
})

describe('a step or program without an end, at work beside others, that', () => {
  let events: Awaited<ReturnType<typeof endLate>>
  beforeAll(async () => {
    events = await endLate()
  })

  test.each([...modules, ...programs].filter(isLate))('%s is ended by its time-out', async (_name, path, wanted) => {
    const failed = all(events, 'block:failed').find(({ block_id }) => block_id === idOf(path))?.data
    expect(failed?.code).toBe(wanted.code)
    expect(failed?.reason).toContain(wanted.says)
    await nobodyLeft()
  })
})

describe('a module that', () => {
  const LOADS: Readonly<Record<string, readonly [string, string]>> = {
    'throws when it is loaded': [`throw new Error('not today')`, 'Error: not today'],
    'ends the process when it is loaded': [`process.exit(0)`, 'its process ended when it was loaded'],
    'says a line without end when it is loaded': [
      `import { writeFileSync } from 'node:fs'; for (;;) try { writeFileSync(3, 'x'.repeat(65_536)) } catch {}`,
      'said more than 8388608 characters at once',
    ],
    'is no TypeScript': [`export default {{`, 'steps/load.ts:1'],
    'exports no step': [`export default {}`, 'its default export is no step: export default defineStep({ .. })'],
    'exports nothing': [`export const a = 1`, 'its default export is no step'],
    'never ends to load': [`await new Promise(() => undefined)`, 'it said nothing within 20000 ms of being loaded'],
    'takes more memory than it may to load': [
      `const kept = []; for (;;) { kept.push(Buffer.alloc(8_388_608, 1)); await new Promise((r) => setTimeout(r, 5)) }`,
      'MB of memory when it was loaded; 512 MB are allowed',
    ],
    'imports what is not there': [`import 'no-such-package'`, 'Could not resolve "no-such-package"'],
  }
  for (const { tags, rows } of firstDaily(3, Object.entries(LOADS)))
    test.each(rows)('%s is refused with the reason when a run starts', { tags }, async (_name, [text, says]) => {
      place.write('steps/load.ts', text)
      const dag = { name: 'load', blocks: [stepBlock('a', './steps/load.ts')] }
      await expect(place.start(dag)).rejects.toThrow(says.replaceAll('"', '\\"'))
    })
})
