import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { all, module, noneLeft, openStepPlace, type StepPlace, stepBlock } from './step-place.ts'

/** What a step does to the place, and the code and words its attempt ends with. */
const HOSTILE: Readonly<Record<string, readonly [string, { readonly code: string; readonly says: string }]>> = {
  'ends its process in the middle': [
    module(`process.exit(7)`),
    { code: 'step_crashed', says: 'ended with exit code 7 before it had answered' },
  ],
  'kills itself': [
    module(`process.kill(process.pid, 'SIGSEGV'); await never()`),
    { code: 'step_crashed', says: 'ended with signal SIGSEGV before it had answered' },
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
  'writes garbage on the channel': [
    module(`writeFileSync(3, 'garbage\\n'); await never()`),
    { code: 'step_answer', says: 'the step wrote "garbage" on descriptor 3' },
  ],
  'writes messages nobody knows on the channel': [
    module(`writeFileSync(3, '{"type":"log","level":"loud","text":7}\\n'); await never()`),
    { code: 'step_answer', says: 'on descriptor 3, which is for what it is called with' },
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
  'returns what is no object': [
    module(`return ['text']`),
    { code: 'step_outputs', says: 'the step: what it returned does not fit' },
  ],
  'throws what is no error': [module(`throw { a: 1 }`), { code: 'step_failed', says: 'the step: it threw {"a":1}' }],
  'forgets a promise that fails': [
    module(`Promise.reject(new Error('nobody caught it')); await never()`),
    { code: 'step_failed', says: 'the step: Error: nobody caught it' },
  ],
  'closes its channel and goes on': [
    module(`const { closeSync } = await import('node:fs'); closeSync(3); setInterval(() => {}, 1000); await never()`),
    { code: 'block_timeout', says: 'the step took longer than timeout_ms 3000' },
  ],
}

const PROGRAMS: Readonly<
  Record<string, readonly [readonly string[], { readonly code: string; readonly says: string }]>
> = {
  'answers what is no JSON': [
    ['sh', '-c', 'echo it is done'],
    { code: 'step_answer', says: 'its answer is no JSON object: it wrote "it is done"' },
  ],
  'answers nothing': [['true'], { code: 'step_answer', says: 'it wrote nothing' }],
  'answers a list': [['echo', '[1]'], { code: 'step_answer', says: 'no object with a value by output' }],
  'answers 1 GB': [
    ['sh', '-c', 'yes | head -c 1000000000'],
    { code: 'step_answer', says: 'its answer is longer than 4194304 bytes' },
  ],
  'ignores that it is to end': [
    ['sh', '-c', 'trap "" TERM; while :; do sleep 1; done'],
    { code: 'block_timeout', says: 'the step took longer than timeout_ms 3000' },
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
  'ends badly': [['sh', '-c', 'exit 9'], { code: 'step_failed', says: 'it ended with exit code 9' }],
}

let place: StepPlace
const modules = Object.entries(HOSTILE).map(([name, [text]], i) => [name, `./steps/m${i}.ts`, text] as const)
const programs = Object.entries(PROGRAMS).map(([name, [exec]], i) => [name, `./steps/p${i}.sh`, exec] as const)

beforeAll(async () => {
  const files = Object.fromEntries(modules.map(([, path, text]) => [path.slice(2), text]))
  const named = Object.fromEntries(programs.map(([, path, exec]) => [path, { exec }]))
  place = await openStepPlace(
    { ...files, 'steps/well.ts': module(`return { text: 'well' }`) },
    {
      programs: named,
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
  await noneLeft(place)
  await place.close()
})

async function endOf(handler: string, outputs?: object) {
  const more = { timeout_ms: 3_000, retry: { max_attempts: 1 }, ...(outputs === undefined ? {} : { outputs }) }
  const run = await place.start({ name: 'hostile', blocks: [stepBlock('a', handler, more)] })
  const events = await place.ended(run)
  return { run, events, failed: all(events, 'block:failed')[0]?.data }
}

describe('a step that', () => {
  test.each(modules)('%s ends its attempt with the reason, and nothing else', async (name, path) => {
    const { failed } = await endOf(path)
    const wanted = HOSTILE[name]?.[1]
    expect(failed?.code).toBe(wanted?.code)
    expect(failed?.reason).toContain(wanted?.says)
    await noneLeft(place)
    expect((await endOf('./steps/well.ts')).failed).toBeUndefined()
  })

  test('writes 1 GB on standard output and standard error has a log with its beginning and its end', async () => {
    place.write(
      'steps/loud.ts',
      module(
        `const { spawnSync } = await import('node:child_process')
         console.log('first')
         spawnSync('sh', ['-c', 'yes | head -c 1000000000; yes err | head -c 100000000 >&2'], { stdio: 'inherit' })
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
    expect(log?.lines).toBeGreaterThan(500_000_000)
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
  test.each(programs)('%s ends its attempt with the reason, and nothing else', async (name, path) => {
    const { failed, run } = await endOf(path, { text: 'string' })
    const wanted = PROGRAMS[name]?.[1]
    expect(failed?.code ?? '').toBe(wanted?.code)
    expect(failed?.reason ?? '').toContain(wanted?.says)
    expect(await place.place.world.runs.artifacts({ tenant: 'main', run_id: run })).toEqual([])
    await noneLeft(place)
  })
})

describe('a module that', () => {
  const LOADS: Readonly<Record<string, readonly [string, string]>> = {
    'throws when it is loaded': [`throw new Error('not today')`, 'Error: not today'],
    'exports no step': [`export default {}`, 'its default export is no step: export default defineStep({ .. })'],
    'exports nothing': [`export const a = 1`, 'its default export is no step'],
    'ends the process when it is loaded': [`process.exit(0)`, 'its process ended when it was loaded'],
    'never ends to load': [`await new Promise(() => undefined)`, 'it said nothing within 20000 ms of being loaded'],
    'is no TypeScript': [`export default {{`, 'steps/load.ts:1'],
    'imports what is not there': [`import 'no-such-package'`, 'Could not resolve "no-such-package"'],
  }
  test.each(Object.entries(LOADS))('%s is refused with the reason when a run starts', async (_name, [text, says]) => {
    place.write('steps/load.ts', text)
    const dag = { name: 'load', blocks: [stepBlock('a', './steps/load.ts')] }
    await expect(place.start(dag)).rejects.toThrow(says.replaceAll('"', '\\"'))
    expect((await endOf('./steps/well.ts')).failed).toBeUndefined()
  })
})
