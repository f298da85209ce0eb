import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeEach, expect, test } from 'vitest'
import { sluice } from '../../e2e/run-cli.ts'

/** `sluice validate` in a folder: agents are judged where a sluice.yaml says which there are. */
const dir = mkdtempSync(join(tmpdir(), 'sluice-validate-'))
afterAll(() => rmSync(dir, { recursive: true, force: true }))

beforeEach(() => {
  rmSync(join(dir, 'sluice.yaml'), { force: true })
  const agent = 'agent: { role: reviewer, prompt: Judge }'
  writeFileSync(join(dir, 'a.yaml'), `blocks:\n  - { id: a, outputs: { x: string }, ${agent} }\n`)
})

async function validate() {
  const { code, out, err } = await sluice(['validate', 'a.yaml'], { cwd: dir })
  return { status: code, said: out + err }
}

const settings = (role: string) => `agents:\n  ana: { role: ${role}, provider: local, model: outline }\n`

test('without one only the document is judged', async () => {
  expect(await validate()).toMatchObject({ status: 0 })
})

test('an agent that fits is found; where none does, it is told with its place', async () => {
  writeFileSync(join(dir, 'sluice.yaml'), settings('reviewer'))
  expect(await validate()).toMatchObject({ status: 0 })
  writeFileSync(join(dir, 'sluice.yaml'), settings('worker'))
  expect(await validate()).toMatchObject({
    status: 100,
    said: expect.stringMatching(/2:\d+ .*no_agent.*role "reviewer".*ana/s),
  })
})

test('a sluice.yaml with errors is its own matter: its agents are not judged', async () => {
  writeFileSync(join(dir, 'sluice.yaml'), `${settings('worker')}prot: 3\n`)
  expect(await validate()).toMatchObject({ status: 0 })
})
