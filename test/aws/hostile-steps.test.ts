import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parseSettings } from '../../shared/settings/parse.ts'
import { type Synthesized, synthesize } from '../integration/aws/synthesized.ts'
import { noneCalled } from '../integration/steps/step-place.ts'
import { type Caller, callerOf, isEnd } from './caller.ts'
import { type Deployment, deploy } from './deploy.ts'

/** What steps do to the function they run in (test/integration/steps/hostile.test.ts has them all): each ends its attempt alone. */
const ORPHAN = String(20_000_000 + process.pid)
const LEAVES_IT = `
  const { spawn } = await import('node:child_process')
  spawn('env', ['-i', 'setsid', 'sleep', '${ORPHAN}'], { stdio: 'ignore', detached: true }).unref()
  await new Promise((resolve) => setTimeout(resolve, 50))`

const HOSTILE: Readonly<Record<string, readonly [string, { readonly code: string; readonly says: string }]>> = {
  'ends its process in the middle': [`process.exit(7)`, { code: 'step_crashed', says: 'ended with exit code 7' }],
  'goes round for ever': [`for (;;) {}`, { code: 'block_timeout', says: 'the step took longer than timeout_ms' }],
  'waits for ever': [
    `await new Promise(() => undefined)`,
    { code: 'block_timeout', says: 'the step took longer than timeout_ms' },
  ],
  'takes more memory than it may': [
    `const kept = []; for (;;) { kept.push(Buffer.alloc(8_388_608, 1)); await new Promise((r) => setTimeout(r, 5)) }`,
    { code: 'step_memory', says: 'MB are allowed. Raise memory_mb under steps' },
  ],
  'leaves its group, its session and its environment': [
    `${LEAVES_IT}; throw new Error('left it running')`,
    { code: 'step_failed', says: 'the step: Error: left it running' },
  ],
  'returns what is no JSON': [
    `return { text: { a: 1n } }`,
    { code: 'step_outputs', says: 'what it returned is no JSON: text.a is a bigint' },
  ],
  'returns more than it may': [
    `return { text: 'x'.repeat(4_300_000) }`,
    { code: 'step_answer', says: 'at most 4194304 are allowed' },
  ],
  'names a pipe as an artifact': [
    `const { execFileSync } = await import('node:child_process')
     const file = process.env.TMPDIR + '/pipe'
     execFileSync('mkfifo', [file])
     const { writeFileSync } = await import('node:fs')
     writeFileSync(3, JSON.stringify({ type: 'write', id: 101, name: 'a', file }) + '\\n')
     throw new Error('nobody waits for it')`,
    { code: 'step_failed', says: 'nobody waits for it' },
  ],
}
/** A function for all of them: one that another one ran in before. */
const MODULE = `
import { defineStep } from 'sluice'
import * as z from 'zod'
const ways = {
${Object.entries(HOSTILE)
  .map(([name, [text]]) => `  ${JSON.stringify(name)}: async () => { ${text} },`)
  .join('\n')}
  'writes 50 MB': async () => {
    const { spawnSync } = await import('node:child_process')
    spawnSync('sh', ['-c', 'yes | head -c 50000000'], { stdio: 'inherit' })
    return { text: 'written' }
  },
  'is well': async () => ({ text: 'well' }),
}
export default defineStep({
  inputs: z.object({ how: z.string() }),
  outputs: z.object({ text: z.any() }),
  run: ({ inputs }) => ways[inputs.how](),
})
`
const PROGRAM = `
case "$(cat)" in
  *"ends badly"*) exit 9;;
  *"answers what is no JSON"*) echo it is done;;
  *"answers 1 GB"*) yes | head -c 1000000000;;
  *"writes 50 MB"*) yes | head -c 50000000 >&2; echo "$?" >&2; echo '{"text":"x"}';;
esac
`
const PROGRAMS: Readonly<Record<string, { readonly code: string; readonly says: string }>> = {
  'ends badly': { code: 'step_failed', says: 'it ended with exit code 9' },
  'answers what is no JSON': { code: 'step_answer', says: 'its answer is no JSON object: it wrote "it is done"' },
  'answers 1 GB': { code: 'step_answer', says: 'its answer is longer than 4194304 bytes' },
}
const DOCUMENT = (name: string, handler: string) => `
name: ${name}
inputs: { how: string }
blocks:
  - id: a
    mode: deterministic
    inputs: { how: string }
    outputs: { text: json }
    deterministic: { handler: ${handler} }
    timeout_ms: ${name.startsWith('short') ? 5_000 : 90_000}
    retry: { max_attempts: 1 }
`
const SETTINGS = `
programs: { ./steps/program: { exec: [sh, steps/program.sh] } }
steps: { ./steps/module.ts: { memory_mb: 256 }, ./steps/program: { memory_mb: 256 } }
`

let project: string
let made: Synthesized
let place: Deployment
let caller: Caller

beforeAll(async () => {
  project = mkdtempSync(join(tmpdir(), 'sluice-project-'))
  const files = {
    'steps/module.ts': MODULE,
    'steps/program.sh': PROGRAM,
    'dags/short-module.yaml': DOCUMENT('short-module', './steps/module.ts'),
    'dags/module.yaml': DOCUMENT('module', './steps/module.ts'),
    'dags/program.yaml': DOCUMENT('program', './steps/program'),
  }
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(project, name)), { recursive: true })
    writeFileSync(join(project, name), text)
  }
  made = await synthesize({}, parseSettings(SETTINGS, 'sluice.yaml'), 'bundled', project)
  place = await deploy(made.out)
  caller = callerOf(place.api.url)
}, 300_000)
afterAll(async () => {
  await place.close()
  made.remove()
  rmSync(project, { recursive: true, force: true })
})

async function endOf(name: string, how: string) {
  const id = await caller.start({ name, inputs: { how } })
  const events = await caller.until(id, isEnd)
  const of = (type: string) => events.find((event) => event.type === type)?.data
  return { end: events.at(-1)?.type, failed: of('block:failed'), output: of('block:output') }
}

describe('the function of a step that', () => {
  test.each(Object.entries(HOSTILE))(
    '%s ends its attempt with the reason, and does its next',
    async (how, [, wanted]) => {
      const { failed } = await endOf(wanted.code === 'block_timeout' ? 'short-module' : 'module', how)
      expect(failed).toMatchObject({ code: wanted.code, reason: expect.stringContaining(wanted.says) })
      await noneCalled(ORPHAN)
      expect((await endOf('module', 'is well')).end).toBe('run:completed')
    },
  )

  test('writes more than anybody holds keeps the beginning and the end of its log', async () => {
    const { output } = await endOf('module', 'writes 50 MB')
    expect(output).toMatchObject({ log: { cut: true, lines: 25_000_000 } })
  })
})

describe('the function of a program that', () => {
  test.each(Object.entries(PROGRAMS))('%s ends its attempt with the reason', async (how, wanted) => {
    const { failed } = await endOf('program', how)
    expect(failed).toMatchObject({ code: wanted.code, reason: expect.stringContaining(wanted.says) })
  })

  test('writes more on standard error than anybody holds is not stopped by it', async () => {
    const { end, output } = await endOf('program', 'writes 50 MB')
    expect([end, output]).toEqual([
      'run:completed',
      expect.objectContaining({ log: expect.objectContaining({ cut: true }) }),
    ])
    expect((output as { readonly log: { readonly tail: readonly string[] } }).log.tail.at(-1)).toBe('0')
  })
})
