import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type BuildFailure, type BuildOptions, build, type Metafile, type Plugin } from 'esbuild'
import { FUNCTIONS } from '../../shared/catalog.ts'
import { Fault } from '../../shared/errors.ts'
import { PROVIDER_FILES } from '../../shared/providers/provider.ts'
import { ROUTES } from '../../shared/routes.ts'
import type { Settings } from '../../shared/settings/settings.ts'
import { mcpKeys } from '../../shared/tools/settings.ts'
import { OWN_URL, ownPackages, ownSource } from '../modules/bundle-module.ts'
import type { DeployedDag } from './deployed-dags.ts'
import { type AdapterType, entrySource, GENERATED, type NamedClients } from './entry-source.ts'
import type { Names } from './names.ts'

/** What is written into bundles besides code. */
export interface BundleParts {
  readonly settings: Settings
  readonly dags: readonly DeployedDag[]
  readonly names: Names
  /** The gates of the project that they name, by path. */
  readonly gates?: DeployedGates
  /** The folder of sluice.yaml, where packages and modules of its providers are looked up; absent = this repository. */
  readonly project?: string
}

export type DeployedGates = Readonly<Record<string, { readonly text: string; readonly hash: string }>>

/** The file beside `index.mjs` that holds the isolate's child program. */
const ISOLATE_WORKER = 'isolate-worker.mjs'

/**
 * Bundles every function of the catalog into `<out>/<name>/index.mjs`: one file each, minified, with the AWS SDK clients
 * of its ports inside, so that a deployment never changes with the runtime's own SDK. Functions that use the isolate get
 * its program as a second file. Answers what each bundle is made of. `only`: bundles of these functions.
 */
export async function bundleFunctions(
  out: string,
  parts: BundleParts,
  only: readonly string[] = FUNCTIONS.map(({ name }) => name),
): Promise<Metafile> {
  const wanted = FUNCTIONS.filter(({ name }) => only.includes(name))
  const isolated = wanted.filter(({ ports }) => ports.includes('isolate'))
  const { metafile } = await build({
    ...FUNCTION_OPTIONS,
    metafile: true,
    entryPoints: Object.fromEntries(wanted.map(({ name }) => [`${name}/index`, `${ENTRY}${name}`])),
    outdir: out,
    plugins: [
      generated(parts),
      ownSources(),
      namedZod(),
      ...(packagesOf(parts.settings).length === 0 ? [] : [ownPackages()]),
    ],
  }).catch((error: unknown) => {
    throw packageFault(error)
  })
  await build({
    ...BUNDLE_OPTIONS,
    entryPoints: Object.fromEntries(
      isolated.map(({ name }) => [
        `${name}/${ISOLATE_WORKER.replace(/\.mjs$/, '')}`,
        ownSource('functions/isolate/worker.ts'),
      ]),
    ),
    outdir: out,
  })
  return metafile
}

/** Types of providers whose adapters need a package, in one order: the same settings make the same bundle. */
const ADAPTER_TYPES = Object.keys(PROVIDER_FILES) as readonly AdapterType[]

const ROOT = join(import.meta.dirname, '../..')
const ENTRY = 'sluice:entry/'

/**
 * Ways to credentials that the SDK loads when the first one, the environment, has none. Lambda always sets it, so they
 * are left where they are: 100 KB less in every function. The runtime's own SDK has them.
 */
const NEVER_LOADED = [
  '@aws-sdk/credential-provider-ini',
  '@aws-sdk/credential-provider-login',
  '@aws-sdk/credential-provider-process',
  '@aws-sdk/credential-provider-sso',
  '@aws-sdk/credential-provider-web-identity',
  '@smithy/credential-provider-imds',
]

/** Of every bundle of a function. */
export const BUNDLE_OPTIONS = {
  absWorkingDir: ROOT,
  bundle: true,
  format: 'esm',
  platform: 'node',
  target: 'node24',
  minify: true,
  // The SDK's packages have ES modules, which shake; their `main` does not.
  mainFields: ['module', 'main'],
  external: NEVER_LOADED,
  outExtension: { '.js': '.mjs' },
  // Slack's client is CommonJS and requires Node's own modules: in an ES module nothing of that name is there.
  banner: {
    js: `import { createRequire as requireFrom } from 'node:module'; const require = requireFrom(${OWN_URL});`,
  },
  legalComments: 'none',
  logLevel: 'silent',
} as const satisfies BuildOptions

/** Of ours: what the client of MCP servers compiles schemas with is a third of it, and is never asked. */
export const FUNCTION_OPTIONS = {
  ...BUNDLE_OPTIONS,
  alias: { '@modelcontextprotocol/client/_shims': ownSource('functions/mcp/no-validator.ts') },
} as const satisfies BuildOptions

/** Generated entries name our sources from the root of the repository; in a package their JavaScript lies elsewhere. */
export function ownSources(): Plugin {
  return {
    name: 'own-sources',
    setup(built) {
      built.onResolve({ filter: /^\.\/functions\/.*\.ts$/ }, ({ path, resolveDir }) =>
        resolveDir === ROOT ? { path: ownSource(path) } : undefined,
      )
    },
  }
}

/** Answers the imports that no file has: entries, the deployed documents, the settings. */
function generated(parts: BundleParts): Plugin {
  const named = namedClients(parts.settings)
  const texts = new Map<string, string>([
    ...FUNCTIONS.map((line) => [`${ENTRY}${line.name}`, entrySource(line, ROUTES, named)] as const),
    [GENERATED.deployed, `export default ${literal(deployedDocuments(parts))}`],
    [GENERATED.gates, `export default ${literal(parts.gates ?? {})}`],
    [GENERATED.settings, `export default ${literal(parts.settings)}`],
    [GENERATED.packages, packagesSource(parts.settings)],
  ])
  return {
    name: 'sluice',
    setup(built) {
      built.onResolve({ filter: /^sluice:/ }, ({ path }) => ({ path, namespace: 'sluice' }))
      built.onLoad({ filter: /.*/, namespace: 'sluice' }, ({ path }) => {
        const contents = texts.get(path)
        const resolveDir = path === GENERATED.packages ? (parts.project ?? ROOT) : ROOT
        return contents === undefined ? null : { contents, loader: 'js', resolveDir }
      })
    },
  }
}

function packagesOf({ providers }: Settings): readonly string[] {
  return Object.values(providers).flatMap((provider) => (provider.type === 'ai-sdk' ? [provider.package] : []))
}

/** What packages and modules of the project export, by the names the settings have for them. */
function packagesSource(settings: Settings): string {
  const names = [...new Set(packagesOf(settings))].map((name) => JSON.stringify(name))
  return [
    ...names.map((name, at) => `import * as package${at} from ${name}`),
    `export default { ${names.map((name, at) => `${name}: package${at}`).join(', ')} }`,
  ].join('\n')
}

/** What is missing in the project is told in words; anything else is a mistake of ours. */
function packageFault(error: unknown): unknown {
  const [first] = (error as Partial<BuildFailure>).errors ?? []
  if (first?.location?.file.endsWith(GENERATED.packages) !== true) return error
  const message = `Cannot bundle the package of a provider: ${first.text}. Install it in the folder of sluice.yaml, or mend package under providers.`
  return new Fault('InvalidInput', 'module_broken', message, { cause: error })
}

/**
 * The AI SDK's packages import all of zod as one object, with its error texts in fifty languages: 350 KB that nobody reads. The
 * same import by name is left with what is used (docs/adr/0076).
 */
function namedZod(): Plugin {
  return {
    name: 'named-zod',
    setup(built) {
      built.onLoad({ filter: /[\\/]@ai-sdk[\\/][a-z-]+[\\/]dist[\\/].*\.m?js$/ }, async ({ path }) => {
        const text = await readFile(path, 'utf8')
        const contents = text.replace(
          /\bimport \{ z(?: as (\w+))? \} from (["']zod(?:\/v4)?["'])/g,
          (_, name: string | undefined, from: string) => `import * as ${name ?? 'z'} from ${from}`,
        )
        return { contents, loader: 'js' }
      })
    },
  }
}

function namedClients(settings: Settings): NamedClients {
  const { providers, services, mcp_servers, slack, webhooks, buses, triggers, telemetry, live_text } = settings
  const all = Object.values(providers)
  const ofProviders = all.map((provider) => ('key' in provider ? provider.key?.secret : undefined))
  const ofSlack = slack === undefined ? [] : [slack.token, slack.signing_secret].flat().map(({ secret }) => secret)
  const ofWebhooks = webhooks.flatMap(({ key }) => [key].flat()).map(({ secret }) => secret)
  const ofHeaders = Object.values(telemetry?.otlp.headers ?? {}).map(({ secret }) => secret)
  const ofServices = Object.values(services).map(({ key }) => key?.secret)
  const servers = Object.values(mcp_servers)
  const ofServers = servers.flatMap((server) => mcpKeys(server).map(({ key }) => key.secret))
  const ofHooks = Object.values(triggers.secrets).flatMap((key) => [key].flat().map(({ secret }) => secret))
  const arns = [...ofProviders, ...ofServices, ...ofServers, ...ofSlack, ...ofWebhooks, ...ofHooks, ...ofHeaders]
  const keepers = new Set(arns.map((arn) => arn?.split(':')[2]))
  return {
    adapters: ADAPTER_TYPES.filter((adapter) => all.some(({ type }) => type === adapter)),
    ssm: keepers.has('ssm'),
    secretsmanager: keepers.has('secretsmanager'),
    webhooks: webhooks.length + buses.length > 0,
    buses: buses.length > 0,
    live: live_text,
    ...(servers.length === 0 ? {} : { mcp: ofServers.length > 0 ? 'with_key' : 'plain' }),
    ...(telemetry === undefined ? {} : { spans: ofHeaders.length > 0 ? 'with_key' : 'plain' }),
  }
}

function deployedDocuments({ dags, names }: BundleParts) {
  return Object.fromEntries(
    dags.map(({ name, document, dag_hash, slug, parts }) => [
      name,
      { document, dag_hash, machine: names.machine(slug), parts: parts.length },
    ]),
  )
}

/** JSON.parse is the fastest way to a large value, and `__proto__` stays a plain key in it. */
function literal(value: unknown): string {
  return `JSON.parse(${JSON.stringify(JSON.stringify(value))})`
}
