import { userInfo } from 'node:os'
import type { Routing } from '../../../shared/document/bind-agents.ts'
import { type ConfiguredGate, configuredGates, type TaskSettings } from '../../../shared/document/task-gates.ts'
import { Fault } from '../../../shared/errors.ts'
import type { ProjectGates } from '../../../shared/gates/project-gates.ts'
import { PLACE_PROVIDERS } from '../../../shared/providers/provider.ts'
import type { ServicesSettings } from '../../../shared/services/settings.ts'
import { parseSettings } from '../../../shared/settings/parse.ts'
import { type Settings, SettingsSchema, withLocalPeople } from '../../../shared/settings/settings.ts'
import type { WorkSettings } from '../../../shared/steps/native-settings.ts'
import type { DagError } from '../../../shared/text/document-problems.ts'
import { readFileIfAny } from '../terminal/files.ts'
import { Refused } from '../terminal/refused.ts'

/** What a run started here would get; a sluice.yaml with errors is for `sluice validate` to tell. */
export function settingsOrDefaults(): Settings {
  const text = readFileIfAny('sluice.yaml', 'settings')
  try {
    return text === undefined ? SettingsSchema.parse({}) : parseSettings(text, 'sluice.yaml')
  } catch (error) {
    if (!(error instanceof Fault)) throw error
    return SettingsSchema.parse({})
  }
}

export interface CheckedSettings {
  readonly errors: readonly DagError[]
  /** Folders of documents. */
  readonly dags: readonly string[]
  /** Names an agent may use. */
  readonly providers: readonly string[]
  /** Services a block may ask; absent like agents. */
  readonly services?: ServicesSettings
  /** Absent with errors: agents nobody could read are no reason to refuse a document. */
  readonly routing?: Routing
  /** Programs, functions, containers and calls that blocks may name; absent like agents. */
  readonly work?: WorkSettings
  /** Gates of tasks and who uses them; absent like agents. */
  readonly tasks?: TaskSettings
}

function workOf(settings: WorkSettings): WorkSettings {
  const { steps, programs, functions, integrations, containers, container_engine } = settings
  return { steps, programs, functions, integrations, containers, container_engine }
}

/** As the local place calls whoever starts it. */
function userName(): string {
  try {
    return userInfo().username
  } catch {
    return 'local'
  }
}

/** What a document is judged by before it is started here. */
function routingOf(settings: Settings): Routing {
  const { providers, prices, agents, services, shell_gates, http_gates, approvals, people } = settings
  const { auth, local_person, slack, public_url, mcp_servers } = settings
  const who = { approvals, people, auth, local_person, slack, public_url }
  return { providers, prices, agents, services, shell_gates, http_gates, mcp_servers, ...who }
}

/** Checks the text of a sluice.yaml; with errors, the folders and providers are the defaults. */
export function checkSettings(text: string, project?: ProjectGates): CheckedSettings {
  try {
    const settings = withLocalPeople(parseSettings(text, 'sluice.yaml', project), { kind: 'user', id: userName() })
    const { dags, providers, services, gates, pipelines } = settings
    const known = { services, work: workOf(settings), routing: routingOf(settings), tasks: { gates, pipelines } }
    return { errors: [], dags, providers: [...PLACE_PROVIDERS, ...Object.keys(providers)], ...known }
  } catch (error) {
    if (!(error instanceof Fault)) throw error
    // Each issue stands in one file here: `file` says nothing new.
    const errors = error.issues.map(({ file: _, ...issue }) => ({ ...issue, code: error.code }))
    return { errors, dags: ['dags'], providers: PLACE_PROVIDERS }
  }
}

/** The gates of tasks that sluice.yaml of the working folder configures; Refused where it has errors. */
export function readConfiguredGates(): readonly ConfiguredGate[] {
  const text = readFileIfAny('sluice.yaml', 'settings')
  const { errors, tasks } = checkSettings(text ?? '')
  if (tasks !== undefined) return configuredGates(tasks)
  const detail = 'Cannot list the configured gates: sluice.yaml has errors.'
  throw new Refused({ code: 'bad_settings', detail, errors })
}
