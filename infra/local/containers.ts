import { execFile } from 'node:child_process'
import { ATTEMPT_FOLDER, stepEnvironment } from '../../functions/steps/step-process.ts'
import type { Settings } from '../../shared/settings/settings.ts'
import type { DescribedStep, UnknownStep } from '../../shared/steps/described-step.ts'
import { findContainer, identityOf } from '../../shared/steps/native-calls.ts'
import type { ContainerSettings } from '../../shared/steps/native-settings.ts'
import { sha256 } from '../../shared/text/hash.ts'
import { canonicalJson } from '../../shared/text/json.ts'

/** What runs containers on this machine, or why nothing does. */
export type ContainerEngine = { readonly command: string } | { readonly missing: string }

const ASKED_MS = 1_000

/** The command of the settings, else the first of docker and podman that answers within a second. */
export async function findContainerEngine({
  container_engine,
}: Pick<Settings, 'container_engine'>): Promise<ContainerEngine> {
  const commands = container_engine === undefined ? ['docker', 'podman'] : [container_engine]
  for (const command of commands) if (await answers(command)) return { command }
  const who = commands.length === 1 ? `${commands[0]} does not answer` : `neither ${commands.join(' nor ')} answers`
  return { missing: `${who} "version" within a second` }
}

function answers(command: string): Promise<boolean> {
  const server = command.endsWith('podman') ? '{{.Client.Version}}' : '{{.Server.Version}}'
  const asked = { timeout: ASKED_MS, killSignal: 'SIGKILL', env: stepEnvironment('/') } as const
  return new Promise((resolve) => {
    execFile(command, ['version', '--format', server], asked, (error) => resolve(error === null))
  })
}

/** A container as this machine runs it. */
export function describeContainer(
  settings: Pick<Settings, 'containers'>,
  name: string,
  engine: ContainerEngine,
): DescribedStep | UnknownStep {
  const made = findContainer(settings, name)
  if ('problem' in made) return made
  if ('missing' in engine) {
    const problem = `container "${name}" cannot run on this machine: ${engine.missing}`
    const hint = `Install Docker or Podman, or name what stands in for it: containers: { ${name}: { local: ./steps/stand-in.ts } }.`
    return { problem, hint }
  }
  return { kind: 'container', hash: sha256(canonicalJson(identityOf(made.found))), effect: 'again' }
}

/**
 * The command that runs one attempt's container: it reaches nothing unless the settings say so, has the attempt's folder and
 * no other, and no more memory and cores than it was given. `name`: by which it is ended.
 */
export function runCommand(
  command: string,
  { image, command: own, env, secrets, cpu, memory_mb, network }: ContainerSettings,
  { name, args }: { readonly name: string; readonly args: readonly string[] },
): readonly string[] {
  const { uid = 0, gid = 0 } = { uid: process.getuid?.(), gid: process.getgid?.() }
  return [
    command,
    'run',
    '--rm',
    '--name',
    name,
    ...(network ? [] : ['--network', 'none']),
    '--memory',
    `${memory_mb}m`,
    '--cpus',
    String(cpu / 1_024),
    '--pids-limit',
    '512',
    '--cap-drop',
    'ALL',
    '--security-opt',
    'no-new-privileges',
    '--user',
    `${uid}:${gid}`,
    '--volume',
    `${ATTEMPT_FOLDER}:/sluice`,
    '--workdir',
    '/sluice',
    ...Object.entries(env).flatMap(([variable, value]) => ['--env', `${variable}=${value}`]),
    // Their values come from the environment of the command, and stand in no list of processes.
    ...Object.keys(secrets).flatMap((variable) => ['--env', variable]),
    image,
    ...own,
    ...args,
  ]
}
