import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { load } from 'js-yaml'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openPlace, type Place } from '../../infra/local/place.ts'
import { parseDag } from '../../shared/document/parse.ts'
import { SettingsSchema } from '../../shared/settings/settings.ts'
import { type ProjectFolder, projectFolder } from './project-folder.ts'

let project: ProjectFolder
/** Where the documents run: one place for all. */
let place: Place
beforeAll(async () => {
  project = await projectFolder()
  const settings = {
    data_dir: join(project.folder, 'data'),
    inputs_dir: join(project.folder, 'inputs'),
    port: 0,
  }
  place = await openPlace(SettingsSchema.parse(settings), { listen: true })
})
afterAll(async () => {
  await place.close()
  project.remove()
})

const ranThere = (line: string) => project.run(`${line} --watch --json`, { SLUICE_URL: place.url ?? '' })

describe('sluice new dag', () => {
  test.each(['ai', 'deterministic'])('writes a document of %s blocks that is valid and runs', async (mode) => {
    const made = await project.run(`sluice new dag made-${mode} --blocks read,check,publish --mode ${mode} --json`)
    expect(JSON.parse(made.out)).toEqual({
      file: `dags/made-${mode}.yaml`,
      name: `made-${mode}`,
      valid: true,
      blocks: ['read', 'check', 'publish'],
    })
    const ran = await ranThere(`sluice run start dags/made-${mode}.yaml`)
    expect([ran.code, JSON.parse(ran.out).run.state]).toEqual([0, 'completed'])
  })

  test('copies a shipped document under another name', async () => {
    const made = await project.run('sluice new dag review --from basic')
    expect(made).toMatchObject({ code: 0, err: '' })
    const ran = await ranThere('sluice run start dags/review.yaml --input goal="a log reader"')
    expect([ran.code, JSON.parse(ran.out).run.dag_name]).toEqual([0, 'review'])
  })

  test('says what a copy needs here', async () => {
    const made = await project.run('sluice new dag pipeline --from coding-gates')
    expect(made.code).toBe(0)
    expect(made.out).toMatch(/It needs a change here: .*role "reviewer"/)
  })

  test('writes over nothing unasked', async () => {
    const file = join(project.folder, 'dags', 'hello.yaml')
    const before = readFileSync(file, 'utf8')
    const refused = await project.run('sluice new dag hello')
    expect([refused.code, refused.err]).toEqual([1, expect.stringContaining('[file_there]')])
    expect(readFileSync(file, 'utf8')).toBe(before)
    expect(await project.run('sluice new dag hello --force')).toMatchObject({ code: 0 })
    expect(readFileSync(file, 'utf8')).not.toBe(before)
  })

  test.each([
    ['sluice new dag ../escape', 'not a path'],
    ['sluice new dag x --blocks "a,b c"', 'b c'],
    ['sluice new dag x --from bassic', 'Did you mean "basic"?'],
    ['sluice new dag x --from basic --blocks a', 'cannot be used with'],
  ])('%s is refused in words', async (line, words) => {
    const { code, err } = await project.run(line)
    expect([code, err]).toEqual([2, expect.stringContaining(words)])
  })
})

/** The ports of an example are not those of this document. */
const UNKNOWN = new Set(['unknown_gate_port', 'bad_gate_expression'])

describe('sluice new gate', () => {
  test('prints a gate in the shape a document takes', async () => {
    let out = ''
    for (const type of ['min_length', 'matches', 'json_schema', 'expr']) {
      out += (await project.run(`sluice new gate g --type ${type}`)).out
    }
    for (const gates of out.split(/^# .* gates explain .*$/m).slice(0, -1)) {
      const gate = (load(gates) as object[])[0]
      const dag = {
        blocks: [
          {
            id: 'a',
            outputs: { text: 'string', row: 'json', out: 'json' },
            agent: { provider: 'local', model: 'outline', prompt: 'p' },
            post_gates: [gate],
          },
        ],
      }
      const parsed = parseDag(JSON.stringify(dag), { name: 'x' })
      const shape = parsed.ok ? [] : parsed.errors.filter(({ code }) => !UNKNOWN.has(code))
      expect(shape).toEqual([])
    }
  })

  test('the port is the one that was named', async () => {
    const { out } = await project.run('sluice new gate long --type min_length --port body --json')
    expect(JSON.parse(out)).toMatchObject({ type: 'min_length', gate: { name: 'long', check: { port: 'body' } } })
  })

  test('an unknown type is answered with the one that was meant', async () => {
    const { code, err } = await project.run('sluice new gate long --type min_lenght')
    expect([code, err]).toEqual([2, expect.stringContaining('Did you mean "min_length"?')])
  })
})
