import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { readDeployedDags } from '../../../infra/aws/deployed-dags.ts'
import { parseSettings } from '../../../shared/settings/parse.ts'
import { sluice as runSluice } from '../../e2e/run-cli.ts'

/** Gates of tasks as a person meets them: in a folder with, without and with a broken sluice.yaml. */
const ROOT = resolve(import.meta.dirname, '../../..')
const SHIPPED = readFileSync(join(ROOT, 'sluice.yaml'), 'utf8')
let dir = ''

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'sluice-tasks-'))
  mkdirSync(join(dir, 'dags'))
  copyFileSync(join(ROOT, 'dags/coding-gates.yaml'), join(dir, 'dags/coding-gates.yaml'))
})
afterEach(() => rmSync(dir, { recursive: true, force: true }))

const write = (settings: string) => writeFileSync(join(dir, 'sluice.yaml'), settings)
async function sluice(...args: readonly string[]) {
  const { code, out, err } = await runSluice(args, { cwd: dir })
  return { status: code, out, err }
}

describe('sluice gates list', () => {
  test('shows the configured gates behind the types, and alone', async () => {
    write(SHIPPED)
    expect((await sluice('gates', 'list')).out).toMatch(
      /^contains [\s\S]*Configured in sluice.yaml[\s\S]*max-bounces {2}REVIEW -> IN_PROGRESS {2}\(coding\)/,
    )
    const alone = JSON.parse((await sluice('gates', 'list', '--configured', '--json')).out)
    expect(alone.map(({ name }: { name: string }) => name)).toEqual([
      'needs-assignee',
      'structured-feedback',
      'done-evidence',
      'max-bounces',
    ])
  })

  test('has none without a sluice.yaml, and says where one is wrong', async () => {
    expect((await sluice('gates', 'list', '--configured', '--json')).out).toBe('[]\n')
    write(SHIPPED.replace('port: notes', 'port: nots'))
    const { status, err } = await sluice('gates', 'list', '--configured')
    expect([status, err]).toEqual([1, expect.stringMatching(/bad_settings[\s\S]*No port "nots"/)])
  })
})

describe('sluice validate', () => {
  test('tells a task without a pipeline, where a sluice.yaml is there', async () => {
    const file = 'dags/coding-gates.yaml'
    expect((await sluice('validate', file)).status).toBe(0)
    write(SHIPPED)
    expect((await sluice('validate', file)).status).toBe(0)
    write(SHIPPED.replace('dag: coding-gates', 'dag: another'))
    const { status, out, err } = await sluice('validate', file)
    expect([status, out + err]).toEqual([100, expect.stringContaining('no_pipeline')])
  })

  test('a deployment refuses it in the same words', () => {
    const settings = parseSettings(SHIPPED.replace('dag: coding-gates', 'dag: another'), 'sluice.yaml')
    const deploy = () => readDeployedDags(join(dir, 'dags'), dir, settings)
    expect(deploy).toThrow(
      /dags.coding-gates.yaml: Block "plan" moves a task, but no pipeline .* there are pipelines for "another"/,
    )
  })
})

describe('sluice run start', () => {
  test('--example coding-gates runs in an empty folder, and --continue goes on from it', {
    tags: ['thorough'],
  }, async () => {
    rmSync(join(dir, 'dags'), { recursive: true })
    const first = await sluice('run', 'start', '--example', 'coding-gates', '--yes', '--json')
    expect(first.status).toBe(0)
    const { run } = JSON.parse(first.out)
    const next = await sluice('run', 'start', '--example', 'coding-gates', '--continue', run.run_id, '--json')
    expect(JSON.parse(next.out)).toMatchObject({ run: { state: 'completed', continues: run.run_id } })
    const unknown = await sluice('run', 'start', '--example', 'coding-gates', '--continue', `run_${'0'.repeat(26)}`)
    expect([unknown.status, unknown.err]).toEqual([1, expect.stringContaining('unknown_run')])
  })
})
