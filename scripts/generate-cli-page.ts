import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { commandTree } from '../clients/cli/command-tree.ts'
import { projectFiles } from '../clients/cli/project/write-project.ts'
import { openSession } from '../clients/cli/terminal/session.ts'
import { normaliser, renderCliPage } from './docs/cli-page.ts'
import { CLI_FILES, runSteps } from './docs/cli-steps.ts'

/** `npm run docs`: docs/cli.md, out of the tree of commands and what each prints in a project made for it. */
const BIN = fileURLToPath(new URL('../clients/cli/sluice.mjs', import.meta.url))
const PAGE = fileURLToPath(new URL('../docs/cli.md', import.meta.url))

const folder = mkdtempSync(join(tmpdir(), 'sluice-docs-'))
const project = join(folder, 'project')
const env = {
  ...process.env,
  PATH: `${join(folder, 'bin')}:${process.env.PATH}`,
  NO_COLOR: '1',
  SLUICE_TOKEN: '',
  npm_command: '',
}
try {
  writeProject()
  const place = await startPlace()
  const printed = await runSteps({ cwd: project, env: { ...env, SLUICE_URL: place.url } }).finally(place.stop)
  const session = openSession()
  const tree = await commandTree({ ...session, settings: { ...session.settings, command: 'sluice' } })
  writeFileSync(PAGE, renderCliPage(tree, printed, normaliser(folder, new URL(place.url).port)))
  const failed = printed.filter(({ out }) => /which is a bug|\[usage\]/.test(out))
  for (const { line, out } of failed) process.stderr.write(`sluice ${line}\n${out}`)
  process.stdout.write(`docs/cli.md shows ${printed.length} outputs\n`)
  process.exitCode = failed.length === 0 ? 0 : 1
} finally {
  rmSync(folder, { recursive: true, force: true })
}

function writeProject(): void {
  mkdirSync(join(folder, 'bin'))
  writeFileSync(join(folder, 'bin', 'sluice'), `#!/bin/sh\nexec "${process.execPath}" "${BIN}" "$@"\n`)
  chmodSync(join(folder, 'bin', 'sluice'), 0o755)
  for (const [path, text] of [...projectFiles('project'), ...Object.entries(CLI_FILES)]) {
    mkdirSync(dirname(join(project, path)), { recursive: true })
    writeFileSync(join(project, path), text)
  }
}

async function startPlace() {
  const child = spawn(process.execPath, [BIN, 'start', '--port', '0', '--json'], {
    cwd: project,
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [line] = await once(createInterface({ input: child.stdout }), 'line')
  const stop = async () => {
    child.kill('SIGTERM')
    await once(child, 'exit')
  }
  return { url: String(JSON.parse(line).url), stop }
}
