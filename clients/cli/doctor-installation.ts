import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import about from '../../package.json' with { type: 'json' }
import { type Check, check } from './check.ts'

/** Node, the packages Sluice needs, and the console: what an install brings. */
export function installationChecks(): readonly Check[] {
  return [nodeCheck(), packagesCheck(), consoleCheck()]
}

/** node:sqlite with FTS5 and no warning. */
const NODE = 24

function nodeCheck(): Check {
  const major = Number(/^v(\d+)\./.exec(process.version)?.[1])
  if (major >= NODE) return check.ok('node', process.version)
  const fix = `use Node ${NODE} or later; \`npm ci\` in the clone brings one`
  return check.failed('node', `${process.version} is too old`, fix)
}

function packagesCheck(): Check {
  const wanted = Object.entries(about.dependencies)
  const found = wanted.map(([name, version]) => ({ name, version, installed: installedVersion(name) }))
  const missing = found.filter(({ installed }) => installed === undefined).map(({ name }) => name)
  const fix = `run \`npm ci --ignore-scripts\` in ${fileURLToPath(new URL('../..', import.meta.url))}`
  if (missing.length > 0) return check.failed('packages', `not installed: ${missing.join(', ')}`, fix)
  const other = found.filter(({ version, installed }) => installed !== version)
  if (other.length === 0) return check.ok('packages', `${found.length} installed, as pinned`)
  const words = other.map(({ name, version, installed }) => `${name} ${installed} instead of ${version}`)
  return check.warning('packages', words.join(', '), fix)
}

const require = createRequire(import.meta.url)

/** A hoisted install has it further up. */
function installedVersion(name: string): string | undefined {
  const folders = require.resolve.paths(name) ?? []
  const file = folders.map((folder) => join(folder, name, 'package.json')).find((one) => existsSync(one))
  return file === undefined ? undefined : String(JSON.parse(readFileSync(file, 'utf8')).version)
}

function consoleCheck(): Check {
  const built = existsSync(fileURLToPath(new URL('../../dist/console/index.html', import.meta.url)))
  if (built) return check.ok('console', 'built')
  return check.warning('console', 'not built: the server shows no console', '`npm run build` in the folder of Sluice')
}
