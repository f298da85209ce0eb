import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, beforeEach, expect, test } from 'vitest'

/** `sluice validate` in a folder: agents are judged where a sluice.yaml says which there are. */
const CLI = resolve(import.meta.dirname, '../../../clients/cli/sluice.mjs')
const dir = mkdtempSync(join(tmpdir(), 'sluice-validate-'))
afterAll(() => rmSync(dir, { recursive: true, force: true }))

beforeEach(() => {
  rmSync(join(dir, 'sluice.yaml'), { force: true })
  const agent = 'agent: { role: reviewer, prompt: Judge }'
  writeFileSync(join(dir, 'a.yaml'), `blocks:\n  - { id: a, outputs: { x: string }, ${agent} }\n`)
})

function validate() {
  const { status, stdout, stderr } = spawnSync(process.execPath, [CLI, 'validate', 'a.yaml'], {
    cwd: dir,
    encoding: 'utf8',
  })
  return { status, said: stdout + stderr }
}

const settings = (role: string) => `agents:\n  ana: { role: ${role}, provider: local, model: outline }\n`

test('without one only the document is judged', () => {
  expect(validate()).toMatchObject({ status: 0 })
})

test('an agent that fits is found; where none does, it is told with its place', () => {
  writeFileSync(join(dir, 'sluice.yaml'), settings('reviewer'))
  expect(validate()).toMatchObject({ status: 0 })
  writeFileSync(join(dir, 'sluice.yaml'), settings('worker'))
  expect(validate()).toMatchObject({
    status: 100,
    said: expect.stringMatching(/2:\d+ .*no_agent.*role "reviewer".*ana/s),
  })
})

test('a sluice.yaml with errors is its own matter: its agents are not judged', () => {
  writeFileSync(join(dir, 'sluice.yaml'), `${settings('worker')}prot: 3\n`)
  expect(validate()).toMatchObject({ status: 0 })
})
