import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { load } from 'js-yaml'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type ProjectFolder, projectFolder } from './project-folder.ts'
import { jsonLines, sluice } from './run-cli.ts'

let project: ProjectFolder
beforeAll(async () => {
  project = await projectFolder()
})
afterAll(() => project.remove())

const read = (path: string) => readFileSync(join(project.folder, path), 'utf8')

test('a new project is valid', { tags: ['thorough'] }, async () => {
  expect(await project.run('sluice validate')).toMatchObject({ code: 0 })
})

test('the DAG of a new project runs at once, offline, without being named', async () => {
  const { code, out, err } = await project.run('sluice run start --json')
  expect([code, err]).toEqual([0, ''])
  const { run, blocks } = JSON.parse(out)
  expect(run.state).toBe('completed')
  expect(Object.keys(blocks)).toEqual(['read', 'outline', 'decisions', 'publish'])
  expect(blocks.outline.gates.map(({ status }: { status: string }) => status)).toEqual(Array(4).fill('passed'))
  const [artifacts = ''] = readdirSync(join(project.folder, '.sluice', 'artifacts'))
  expect(read(`.sluice/artifacts/${artifacts}/outline.md`)).toContain('Decision: reading ahead goes into release 2.4')
})

test('its gates refuse an outline that names no decision', { tags: ['thorough'] }, async () => {
  const notes = read('inputs/notes.md')
  writeFileSync(join(project.folder, 'inputs', 'notes.md'), notes.replaceAll('Decision:', 'They said:'))
  const { code, out } = await project.run('sluice run start --json')
  writeFileSync(join(project.folder, 'inputs', 'notes.md'), notes)
  expect([code, JSON.parse(out).run]).toMatchObject([1, { state: 'failed' }])
  expect(JSON.parse(out).blocks.outline).toMatchObject({ attempt: 3, error: { code: 'post_gate_failed' } })
})

test('the commands of its CI file hold', { tags: ['thorough'] }, async () => {
  const { jobs } = load(read('.github/workflows/sluice.yml')) as { jobs: { check: { steps: { run?: string }[] } } }
  const lines = jobs.check.steps.flatMap(({ run = '' }) => (run.startsWith('npx --no ') ? [run.slice(9)] : []))
  expect(lines.length).toBe(5)
  for (const line of lines) expect(await project.run(line)).toMatchObject({ code: 0 })
  const verdicts = jsonLines(read('verdicts.ndjson')) as readonly { id: string; status: string }[]
  expect(verdicts.length).toBeGreaterThan(3)
  expect(verdicts.filter(({ id, status }) => !id.startsWith(`${status}: `))).toEqual([])
})

test('its files hold to the schemas beside them', () => {
  for (const path of ['sluice.yaml', 'dags/hello.yaml', 'tests/hello.yaml', 'evals/hello.yaml']) {
    const text = read(path)
    const [, schema = ''] = /^# yaml-language-server: \$schema=(\S+)$/m.exec(text) ?? []
    const folder = dirname(path)
    const ajv = new Ajv2020({ strict: false, validateFormats: false })
    const holds = ajv.compile(JSON.parse(read(join(folder, schema))))
    expect([holds(load(text)), holds.errors]).toEqual([true, null])
    expect(holds({ ...(load(text) as object), nonsense: 1 })).toBe(false)
  }
})

test('nothing is written over what is there, but for --force', async () => {
  writeFileSync(join(project.folder, 'README.md'), 'mine')
  const folder = mkdtempSync(join(tmpdir(), 'sluice-init-'))
  writeFileSync(join(folder, 'README.md'), 'mine')
  writeFileSync(join(folder, 'other.txt'), 'kept')
  const refused = await sluice(['init', folder])
  expect([refused.code, refused.out]).toEqual([1, ''])
  expect(refused.err).toMatch(/README\.md is there already.*Nothing was written\. \[file_there\]/)
  expect(readdirSync(folder).sort()).toEqual(['README.md', 'other.txt'])
  const forced = await sluice(['init', folder, '--force', '--json'])
  expect(forced.code).toBe(0)
  expect(JSON.parse(forced.out)).toMatchObject({ folder, replaced: ['README.md'] })
  expect(readFileSync(join(folder, 'other.txt'), 'utf8')).toBe('kept')
  expect(readFileSync(join(folder, 'README.md'), 'utf8')).not.toBe('mine')
  rmSync(folder, { recursive: true })
})

test('it says what it wrote and the next commands', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-init-'))
  const { out } = await sluice(['init', 'brief'], { cwd: folder })
  for (const [, path = ''] of out.matchAll(/^ {2}(\S+)$/gm)) expect(existsSync(join(folder, 'brief', path))).toBe(true)
  expect(out).toMatch(
    /Next:\n {2}cd brief\n {2}sluice validate .*\n {2}sluice run start .*\n {2}sluice test .*\n {2}sluice start /,
  )
  rmSync(folder, { recursive: true })
})

test('a package.json that is there stays; a new one asks for the package as the nearest one above does', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-init-'))
  const mine = JSON.stringify({ dependencies: { sluice: 'file:../sluice.tgz' } })
  writeFileSync(join(folder, 'package.json'), mine)
  const here = await sluice(['init', '.', '--json'], { cwd: folder })
  expect([here.code, JSON.parse(here.out).written.includes('package.json')]).toEqual([0, false])
  expect(readFileSync(join(folder, 'package.json'), 'utf8')).toBe(mine)
  await sluice(['init', 'in/My Brief'], { cwd: folder })
  const { name, devDependencies } = JSON.parse(readFileSync(join(folder, 'in/My Brief/package.json'), 'utf8'))
  expect([name, devDependencies]).toEqual(['my-brief', { sluice: 'file:../../../sluice.tgz' }])
  rmSync(folder, { recursive: true })
})

test('without a document run start says how to get one, with several which there are', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-empty-'))
  const none = await sluice(['run', 'start'], { cwd: folder })
  expect([none.code, none.err]).toEqual([2, expect.stringContaining('`sluice init` writes one')])
  rmSync(folder, { recursive: true })
  await project.run('sluice new dag another')
  const several = await project.run('sluice run start')
  expect([several.code, several.err]).toEqual([2, expect.stringContaining('dags/another.yaml, dags/hello.yaml')])
})
