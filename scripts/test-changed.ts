import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'

/**
 * `npm run test:changed [-- --base REV] [-- --seconds N]`: the tests of what differs from REV (HEAD), those that are fewest
 * imports away first, as many as the last runs say fit into N seconds (50). What was left out is counted; `npm test` runs it.
 */
const root = dirname(dirname(fileURLToPath(import.meta.url)))
const { values } = parseArgs({
  options: { base: { type: 'string', default: 'HEAD' }, seconds: { type: 'string', default: '50' } },
})
/** Files of these kinds run; those of `aws`, `faults` and `slow` have set-ups of minutes. */
const PROJECTS = ['unit', 'conformance', 'integration', 'e2e'] as const
/** Starting vitest and the set-up of integration tests, in seconds. */
const START_SEC = 8
/** What a file takes that no run has timed. */
const UNKNOWN_SEC = 2

const changed = changedFiles()
const near = nearestTests(changed)
const chosen = withinTime(near)
if (chosen.length === 0) say('No test reads what changed.')
else {
  say(`${chosen.length} of ${near.length} test files that read what changed, the nearest first.`)
  const projects = PROJECTS.flatMap((name) => ['--project', name])
  const vitest = join(root, 'node_modules', 'vitest', 'vitest.mjs')
  process.exitCode = spawnSync(
    process.execPath,
    [vitest, 'run', '--tags-filter', '!thorough', ...projects, ...chosen],
    {
      cwd: root,
      stdio: 'inherit',
    },
  ).status
  if (chosen.length < near.length) say(`${near.length - chosen.length} files further away were left to npm test.`)
}

/** Of the base to the files as they lie there, new ones too. */
function changedFiles(): readonly string[] {
  const git = (...args: readonly string[]) =>
    spawnSync('git', args, { cwd: root, encoding: 'utf8' }).stdout.split('\n').filter(Boolean)
  return [...git('diff', '--name-only', values.base), ...git('ls-files', '--others', '--exclude-standard')]
}

/** Every test file that imports a changed one, by the number of imports between them. */
function nearestTests(from: readonly string[]): readonly string[] {
  const readers = readersOfFiles()
  const seen = new Set(from)
  const found: string[] = []
  for (let ring: readonly string[] = [...seen]; ring.length > 0; ) {
    found.push(...ring.filter(isTest))
    ring = ring.flatMap((file) => [...(readers.get(file) ?? [])]).filter((file) => !seen.has(file) && seen.add(file))
  }
  return found
}

function isTest(file: string): boolean {
  return (
    file.endsWith('.test.ts') && existsSync(join(root, file)) && PROJECTS.some((p) => file.startsWith(`test/${p}/`))
  )
}

/** Who imports each file. Imports are written with their ending, so text is enough. */
function readersOfFiles(): ReadonlyMap<string, ReadonlySet<string>> {
  const readers = new Map<string, Set<string>>()
  for (const folder of ['shared', 'functions', 'infra', 'clients', 'scripts', 'test']) {
    for (const name of readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })) {
      if (!/\.(tsx?|mjs)$/.test(name) || name.includes('node_modules')) continue
      const file = join(folder, name)
      const text = readFileSync(join(root, file), 'utf8')
      for (const [, target = ''] of text.matchAll(/(?:from|import\(|import) ?'(\.[^']+)'/g)) {
        const read = relative(root, join(root, dirname(file), target))
        readers.set(read, (readers.get(read) ?? new Set()).add(file))
      }
    }
  }
  return readers
}

/** As many as fit, at two files at once. */
function withinTime(files: readonly string[]): readonly string[] {
  const known = knownSeconds()
  let left = (Number(values.seconds) - START_SEC) * 2
  return files.filter((file) => {
    left -= known.get(file) ?? UNKNOWN_SEC
    return left >= 0
  })
}

/** What vitest kept of its last runs. */
function knownSeconds(): ReadonlyMap<string, number> {
  const kept = join(root, 'node_modules', '.vite', 'vitest')
  if (!existsSync(kept)) return new Map()
  const files = readdirSync(kept, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('results.json'))
  return new Map(
    files.flatMap((name) => {
      const { results }: { results: readonly [string, { readonly duration: number }][] } = JSON.parse(
        readFileSync(join(kept, name), 'utf8'),
      )
      return results.map(([file, { duration }]) => [file.slice(file.indexOf(':') + 1), duration / 1_000] as const)
    }),
  )
}

function say(line: string): void {
  process.stdout.write(`${line}\n`)
}
