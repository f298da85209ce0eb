import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Started, sluice, startSluice } from '../../e2e/run-cli.ts'

/** What people see of a step: how far it is while it works, the end of its log when it failed, and the whole of it. */
const dir = mkdtempSync(join(tmpdir(), 'sluice-step-log-'))
let server: Started

const STEP = `
import { existsSync } from 'node:fs'
import { setTimeout as wait } from 'node:timers/promises'
import { defineStep } from 'sluice'
import * as z from 'zod'
export default defineStep({
  inputs: z.object({ text: z.string() }),
  outputs: z.object({ words: z.number() }),
  config: z.strictObject({ until: z.string() }),
  async run({ inputs, config, log, progress, attempt }) {
    progress(0.25, 'a quarter')
    while (!existsSync(config.until)) await wait(20)
    for (let line = 1; line <= 12; line += 1) log.info(inputs.text + ' ' + line)
    if (inputs.text === 'bad') throw new Error('attempt ' + attempt + ' found no row')
    return { words: 1 }
  },
})
`
const document = (name: string, more: string) => `
name: ${name}
inputs: { text: string, list: { type: json, default: [good, bad] } }
blocks:
  - id: work
    mode: deterministic
    retry: { max_attempts: 2, delay_ms: 0, backoff: none }
    deterministic: { handler: ./steps/work.ts, config: { until: ${join(dir, 'go')} } }
    inputs: { text: string, list: json }
${more}`

beforeAll(async () => {
  mkdirSync(join(dir, 'steps'))
  mkdirSync(join(dir, 'dags'))
  writeFileSync(join(dir, 'steps/work.ts'), STEP)
  writeFileSync(join(dir, 'dags/one.yaml'), document('one', '').replace(', list: json }', ' }'))
  const each = '    foreach: { items: "{{inputs.list}}", as: text, fail_fast: false }\n'
  writeFileSync(join(dir, 'dags/many.yaml'), document('many', each).replace('text: string, list: json', 'list: json'))
  server = await startSluice(['start', '--port', '0', '--json'], dir)
})
afterAll(async () => {
  await server.stop('SIGTERM')
  rmSync(dir, { recursive: true, force: true })
})

async function run(...args: readonly string[]) {
  return sluice(args, { cwd: dir, env: { SLUICE_URL: String(server.first.url) } })
}

async function started(name: string, ...more: readonly string[]): Promise<string> {
  const { out, err } = await run('run', 'start', name, '--json', ...more)
  return /run_[0-9a-z]{26}/.exec(out)?.[0] ?? expect.fail(out + err)
}

/** Asks until the words are there: a step works on its own. */
async function untilStatus(runId: string, words: RegExp): Promise<string> {
  for (;;) {
    const { out } = await run('run', 'status', runId)
    if (words.test(out)) return out
  }
}

describe('a step that fails', () => {
  let runId = ''
  beforeAll(async () => {
    rmSync(join(dir, 'go'), { force: true })
    runId = await started('one', '--input', 'text=bad')
  })

  test('says how far it is while it works', async () => {
    expect(await untilStatus(runId, /25 %/)).toMatch(/work +running +25 % a quarter/)
    writeFileSync(join(dir, 'go'), '')
    const { out } = await run('run', 'watch', runId)
    expect(out).toContain('work: 25 %: a quarter')
  })

  test('leaves the end of its log, and the command that shows all of it', async () => {
    const out = await untilStatus(runId, /failed/)
    expect(out).toContain(`The end of the log of block work (14 lines, `)
    expect(out).toContain(`run log ${runId} work`)
    expect(out).toContain('  | bad 12\n  | error: Error: attempt 2 found no row')
    expect(out).not.toContain('bad 1\n')
  })

  test('run log prints the whole log of the newest attempt, or of the one that is named', async () => {
    const newest = await run('run', 'log', runId, 'work')
    expect(newest.out).toMatch(
      /^bad 1\n(bad \d+\n){11}error: Error: attempt 2 found no row\nerror: {5}at .*work\.ts:\d+:\d+/,
    )
    expect((await run('run', 'log', runId, 'work', '--attempt', '1')).out).toContain('attempt 1 found no row')
    const { out } = await run('run', 'log', runId, 'work', '--json')
    expect(JSON.parse(out)).toMatchObject({ run_id: runId, block_id: 'work', attempt: 2, log: { lines: 14 } })
  })

  test('an attempt that wrote none is told with those that did', async () => {
    const { code, err } = await run('run', 'log', runId, 'work', '--attempt', '7')
    expect([code, err]).toEqual([1, expect.stringContaining('there are logs of attempt 1, 2. [no_log]')])
  })
})

test('of a fan-out that failed each failed item has its log', async () => {
  writeFileSync(join(dir, 'go'), '')
  const runId = await started('many', '--input', 'text=none')
  const out = await untilStatus(runId, /log of item/)
  expect(out).toMatch(new RegExp(`The log of item 1 of block work: .*run log ${runId} work --item 1`))
  expect(out).not.toContain('log of item 0')
  expect((await run('run', 'log', runId, 'work', '--item', '0')).out).toContain('good 12')
  expect((await run('run', 'log', runId, 'work')).err).toContain('name an item with --item N. [no_log]')
})
