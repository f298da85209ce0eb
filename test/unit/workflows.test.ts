import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { load } from 'js-yaml'
import { describe, expect, test } from 'vitest'
import about from '../../package.json' with { type: 'json' }

const ROOT = resolve(import.meta.dirname, '../..')
const FOLDER = join(ROOT, '.github/workflows')

interface Step {
  readonly uses?: string
  readonly run?: string
}
interface Workflow {
  readonly on?: unknown
  readonly permissions?: Readonly<Record<string, string>>
  readonly jobs: Readonly<
    Record<string, { readonly steps: readonly Step[]; readonly permissions?: Readonly<Record<string, string>> }>
  >
}

const read = (file: string) => load(readFileSync(join(FOLDER, file), 'utf8')) as Workflow
const stepsOf = ({ jobs }: Workflow) => Object.values(jobs).flatMap(({ steps }) => steps)

describe.each(readdirSync(FOLDER))('.github/workflows/%s', (file) => {
  test('uses actions by their commit, with the version beside it', () => {
    const lines = readFileSync(join(FOLDER, file), 'utf8').split('\n')
    const used = lines.filter((line) => /\buses:/.test(line))
    expect(used.length).toBeGreaterThan(0)
    for (const line of used) expect(line).toMatch(/uses: [\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/)
  })

  test('runs what is there', () => {
    for (const { run } of stepsOf(read(file))) {
      if (run === undefined || run.startsWith('npm publish ')) continue
      const script = /^npm run ([\w:-]+)$/.exec(run)?.[1]
      if (script !== undefined) expect(Object.keys(about.scripts)).toContain(script)
      else
        expect([run, existsSync(join(ROOT, run)) && (statSync(join(ROOT, run)).mode & 0o100) > 0]).toEqual([run, true])
    }
  })

  test('may read the repository, and beyond that only what signing needs', () => {
    const { permissions, jobs } = read(file)
    const all = [permissions, ...Object.values(jobs).map((job) => job.permissions)]
    expect(permissions).toEqual({ contents: 'read' })
    const more = all.flatMap((one) => Object.entries(one ?? {})).filter(([, access]) => access !== 'read')
    expect(more).toEqual(file === 'release.yml' ? [['id-token', 'write']] : [])
  })
})

test('a release is published with its provenance, after everything was checked, by a person who makes it', () => {
  const runs = stepsOf(read('release.yml')).flatMap(({ run }) => run ?? [])
  expect(runs.at(0)).toBe('.ci/run')
  expect(runs.at(-1)).toContain('--provenance')
  expect(read('release.yml').on).toEqual({ release: { types: ['published'] } })
})

test('SECURITY.md names pages that are there', () => {
  const links = [...readFileSync(join(ROOT, 'SECURITY.md'), 'utf8').matchAll(/\]\(([^)#]+)/g)].map(
    ([, path]) => path ?? '',
  )
  expect(links.length).toBeGreaterThan(1)
  expect(links.filter((path) => !existsSync(join(ROOT, path)))).toEqual([])
})
