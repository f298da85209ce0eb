import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Started, sluice, startSluice } from './run-cli.ts'

const INNER = `
blocks:
  - id: ask
    outputs: { text: string }
    approval: { required: true, prompt: Shall it? }
    agent: { provider: local, model: m, prompt: "Plan {{inputs.goal}}" }
`
const OUTER = `
name: outer
blocks:
  - id: sub
    mode: dag
    dag: { name: inner, inputs: { goal: a small garden } }
    outputs: { text: string }
`

let cwd = ''
beforeAll(() => {
  cwd = mkdtempSync(join(tmpdir(), 'sluice-cli-'))
  mkdirSync(join(cwd, 'dags'))
  writeFileSync(join(cwd, 'dags/inner.yaml'), INNER)
  writeFileSync(join(cwd, 'outer.yaml'), OUTER)
})
afterAll(() => rmSync(cwd, { recursive: true, force: true }))

describe('a run with a child', () => {
  test('is followed with it: --yes answers what the child asks, also without a server', async () => {
    const { code, out } = await sluice(['run', 'start', 'outer.yaml', '--yes'], { cwd })
    expect(out).toContain('Block ask asks: Shall it? Approved because of --yes.')
    expect(code).toBe(0)
  })

  test('is listed alone, with --children together; each status names the other', async () => {
    const server: Started = await startSluice(['start', '--port', '0', '--json'], cwd)
    try {
      const env = { SLUICE_URL: String(server.first.url) }
      const cli = (...args: string[]) => sluice(args, { cwd, env })
      const roots = (await cli('run', 'list')).out.trimEnd().split('\n')
      expect(roots).toHaveLength(1)
      const [id = ''] = /run_\w+/.exec(roots[0] ?? '') ?? []
      const all = (await cli('run', 'list', '--children')).out
      const [child = ''] = all.match(/run_\w+(?=.* {2}child inner)/) ?? []
      expect([all.includes(id), child === id]).toEqual([true, false])
      expect((await cli('run', 'status', id)).out).toMatch(new RegExp(`sub +completed .*child ${child}`))
      expect((await cli('run', 'status', child)).out).toContain(`Child of block sub of run ${id}`)
    } finally {
      await server.stop('SIGTERM')
    }
  })
})
