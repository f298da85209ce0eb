import { spawnSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { missingPackages, onlyPackages, runtimePackages } from './runtime-packages.ts'

/**
 * `npm run sbom`: writes what the installed package runs on as CycloneDX to dist/sbom.cdx.json, and fails when a runtime
 * dependency is not in it. Then asks the registry for advisories, and says so where it has none to give.
 */
const FILE = 'dist/sbom.cdx.json'

function main(): number {
  const made = npm('sbom', '--sbom-format', 'cyclonedx', '--sbom-type', 'application')
  if (made.status !== 0) return fail(`npm sbom ended with ${made.status}: ${made.stderr.trim()}`)
  const packages = runtimePackages(process.cwd())
  const sbom = onlyPackages(JSON.parse(made.stdout), packages)
  const missing = missingPackages(sbom, packages)
  if (missing.length > 0) return fail(`the SBOM lacks ${missing.join(', ')}. Run npm ci and try again.`)
  mkdirSync(dirname(FILE), { recursive: true })
  writeFileSync(FILE, `${JSON.stringify(sbom, undefined, 2)}\n`)
  print(`${FILE}: ${sbom.components.length} components; every one of ${packages.length} runtime packages is among them`)
  return audit()
}

/** Exit code 1 is "found something" to npm, and also "cannot tell": the answer says which. */
function audit(): number {
  const { stdout } = npm('audit', '--omit', 'dev', '--json')
  const { metadata, message, error } = parsed(stdout)
  if (metadata?.vulnerabilities === undefined) {
    print(`npm audit: skipped, the registry gives no advisories (${message ?? error?.summary ?? 'no answer'})`)
    return 0
  }
  const { total = 0, ...kinds } = metadata.vulnerabilities
  print(`npm audit: ${total} advisories ${total === 0 ? '' : JSON.stringify(kinds)}`.trimEnd())
  return total === 0 ? 0 : 1
}

interface Audit {
  readonly metadata?: { readonly vulnerabilities?: Readonly<Record<string, number>> }
  readonly message?: string
  readonly error?: { readonly summary?: string }
}

function parsed(text: string): Audit {
  try {
    return JSON.parse(text)
  } catch {
    return {}
  }
}

function npm(...args: readonly string[]) {
  return spawnSync('npm', [...args], { encoding: 'utf8', maxBuffer: 64 * 1_024 * 1_024 })
}

function fail(why: string): number {
  process.stderr.write(`sbom: ${why}\n`)
  return 1
}

function print(text: string): void {
  process.stdout.write(`${text}\n`)
}

process.exitCode = main()
