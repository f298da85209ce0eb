import { readCallName } from '../../shared/dag/native-call.ts'
import { Fault } from '../../shared/errors.ts'
import type { Inputs } from '../../shared/ports/objects.ts'
import { PLACE_PROVIDERS, type Providers } from '../../shared/providers/provider.ts'
import type { RunKey } from '../../shared/runs/run-store.ts'
import { openServices, type Services } from '../../shared/services/service-keys.ts'
import type { KnownSteps } from '../../shared/steps/described-step.ts'
import { describeDeployedCalls } from '../../shared/steps/native-calls.ts'
import type { Steps } from '../../shared/steps/steps-port.ts'
import { didYouMean, listed, suggest } from '../../shared/text/wording.ts'
import type { McpServers } from '../../shared/tools/mcp-port.ts'
import { type HookKeys, openHookKeys } from '../../shared/triggers/hook-keys.ts'
import type { Buses } from '../../shared/webhooks/buses.ts'
import { openWebhooks, type Webhooks } from '../../shared/webhooks/signing.ts'
import type { Waker } from '../../shared/world.ts'
import type { Core } from './core.ts'

/** Who waits for a run looks each 500 ms for 10 s after an event, else each 2 s. */
const QUICK_MS = 500
const SLOW_MS = 2_000
const QUICK_FOR_MS = 10_000
/** Runs remembered at most: a sandbox serves one stream at a time, a test more. */
const MOST_RUNS = 100

/**
 * The Waker port where nobody can be woken: `changed` answers after the poll delay, which is short while the run is
 * lively. A wait that its reader gives up means that there was an event (or that the reader left, which does not
 * matter). `slot` answers false at once, so that the machine's own Wait does the rest.
 */
export function openWaker({ clock }: Pick<Core, 'clock'>): Waker {
  const quickUntil = new Map<string, number>()
  const noteEvent = (key: string): void => {
    quickUntil.delete(key)
    quickUntil.set(key, clock.now() + QUICK_FOR_MS)
    const [oldest] = quickUntil.keys()
    if (quickUntil.size > MOST_RUNS && oldest !== undefined) quickUntil.delete(oldest)
  }
  const changed: Waker['changed'] = async (run, ms, signal) => {
    const key = keyOf(run)
    if (!quickUntil.has(key)) noteEvent(key)
    const pace = (quickUntil.get(key) ?? 0) > clock.now() ? QUICK_MS : SLOW_MS
    try {
      await clock.delay(Math.max(0, Math.min(ms, pace)), signal)
    } catch (reason) {
      noteEvent(key)
      throw reason
    }
  }
  return { changed, ended: changed, slot: async () => false }
}

function keyOf({ tenant, run_id }: RunKey): string {
  return `${tenant}/${run_id}`
}

/** The Inputs port on AWS: there is no folder, so every path is refused (docs/differences.md). */
export function openInputs(): Inputs {
  return {
    async read(_tenant, path) {
      const message = `Cannot read input "${path.slice(0, 200)}": on AWS there is no inputs folder, only object refs are read. Give the block an input "file" that holds a ref (objstore://tenant/sha256) instead of config "path".`
      throw new Fault('Rejected', 'inputs_not_here', message)
    },
  }
}

/** The Webhooks port: keys are secrets of Systems Manager or Secrets Manager. */
export function openWebhookKeys({ settings, secrets }: Pick<Core, 'settings' | 'secrets'>): Webhooks {
  return openWebhooks(settings.webhooks, async ({ secret }) =>
    secret === undefined ? undefined : secrets?.read({ secret }),
  )
}

/** The Buses port of a stage whose settings name no bus: the client of EventBridge is in no bundle. */
export function openNoBuses(): Buses {
  return {
    async put(name) {
      const message = `Cannot put an event on bus "${name}": the settings of this stage name none. Add it under buses and deploy.`
      throw new Fault('Bug', 'unknown_bus', message)
    },
  }
}

/** The Services port: keys are secrets of Systems Manager or Secrets Manager. */
export function openServiceKeys({ settings, secrets }: Pick<Core, 'settings' | 'secrets'>): Services {
  return openServices(settings.services, async ({ secret }) =>
    secret === undefined ? undefined : secrets?.read({ secret }),
  )
}

/** The HookKeys port: secrets of Systems Manager or Secrets Manager. */
export function openHookSecrets({ settings, secrets }: Pick<Core, 'settings' | 'secrets'>): HookKeys {
  return openHookKeys(settings.triggers, async ({ secret }) =>
    secret === undefined ? undefined : secrets?.read({ secret }),
  )
}

/** The McpServers port of a stage whose settings name no server: the client of the protocol is in no bundle. */
export function openNoMcp(): McpServers {
  const refuse = async (server: string): Promise<never> => {
    const message = `Cannot ask MCP server "${server}": the settings of this stage name none. Add it under mcp_servers and deploy.`
    throw new Fault('InvalidInput', 'unknown_mcp_server', message)
  }
  return { names: () => [], tools: refuse, call: refuse }
}

/** The Steps port of functions that check documents: what was deployed, and no way to start it. */
export function openDescribedSteps({ settings }: Pick<Core, 'settings'>): Steps {
  const { described_steps = {} } = settings
  const refuseCall = (): never => {
    const message =
      'Cannot make a call of AWS: this function only describes what documents name. Give it the right steps.collect in infra/aws/grants.ts and deploy.'
    throw new Fault('Bug', 'port_not_listed', message)
  }
  return {
    async describe(names) {
      const calls = names.filter((name) => readCallName(name) !== undefined)
      const own = names.filter((name) => readCallName(name) === undefined)
      return {
        ...describe(described_steps, own),
        ...describeDeployedCalls(settings, calls, Object.keys(described_steps)),
      }
    },
    holdsSecret: async () => refuseCall(),
    task: async () => refuseCall(),
    collect: async () => refuseCall(),
    async start({ name }) {
      const message = `Cannot start step "${name}": this function only describes steps. Give it the right steps.start in infra/aws/grants.ts and deploy.`
      throw new Fault('Bug', 'port_not_listed', message)
    },
  }
}

function describe(all: KnownSteps, names: readonly string[]): KnownSteps {
  const deployed = Object.fromEntries(Object.entries(all).filter(([name]) => readCallName(name) === undefined))
  return Object.fromEntries(
    names.map((name) => {
      const known = Object.hasOwn(deployed, name) ? deployed[name] : undefined
      if (known !== undefined) return [name, known]
      const near = didYouMean(suggest(name, Object.keys(deployed)))
      const problem = `this deployment has no step of that name; it has ${listed(Object.keys(deployed))}. Name it in a document of the project and deploy.${near === undefined ? '' : ` ${near}`}`
      return [name, { problem }]
    }),
  )
}

/** The Providers port of functions that check documents and never dispatch: names, no adapter. */
export function openProviderNames({ settings }: Pick<Core, 'settings'>): Providers {
  const names = [...new Set([...PLACE_PROVIDERS, ...Object.keys(settings.providers)])]
  return { names: () => names, get: refuse }
}

function refuse(name: string): never {
  const message = `Cannot ask provider "${name}": this function only names providers. List port "secrets" in its line of shared/catalog.ts and deploy.`
  throw new Fault('Bug', 'port_not_listed', message)
}
