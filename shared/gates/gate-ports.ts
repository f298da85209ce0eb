import type { Isolate } from '../ports/isolate.ts'
import type { SignedContent } from '../ports/secrets.ts'
import type { Provider } from '../providers/provider.ts'
import type { Json } from '../text/json.ts'
import { safeOneLine } from '../text/redact.ts'
import type { ShellGateSettings } from './settings.ts'

/** One request of an http or webhook gate, as net-gate carries it out: guarded, bounded, never with a caller's header but those of a service. */
export interface LimitedRequest {
  /** PUT, PATCH and DELETE of a service only. */
  readonly method: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  readonly url: string
  readonly timeout_ms: number
  /** GET and HEAD follow redirects, each checked again, unless told not to. The others never do. */
  readonly follow?: false
  /** Not of GET and HEAD: the JSON body. */
  readonly body?: Json
  /** POST only, in place of `body`: a message of a webhook, its bytes and the three headers of Standard Webhooks. */
  readonly signed?: SignedMessage
  /** Of a service the operator named: its own settings say what may be asked, in place of those of gates. */
  readonly service?: ServiceCall
}

/** A request of a service. */
export interface ServiceCall {
  /** Under `services` of the settings, where net-gate looks it up: the URL is below that one's. */
  readonly name: string
  /** By names in small letters, its key among them. */
  readonly headers: Readonly<Record<string, string>>
}

export interface SignedMessage extends SignedContent {
  readonly signature: string
}

/** `refused`: an address, port or redirect the guard does not allow; `failed`: nobody answered in time. */
export type LimitedAnswer =
  | {
      readonly kind: 'answered'
      readonly status: number
      /** The last one asked. */
      readonly url: string
      /** At most 64 KiB of it; that of a signed message's answer is not read. */
      readonly body: string
      readonly body_cut?: true
      /** Retry-After as it was sent. */
      readonly retry_after?: string
      /** Of a service: its headers by name in small letters, without cookies. */
      readonly headers?: Readonly<Record<string, string>>
    }
  | { readonly kind: 'refused'; readonly reason: string }
  | { readonly kind: 'failed'; readonly reason: string }

/** `exit_code` absent: it was killed (time, output) or never started; `refused`: not on the operator's list. */
export type ShellAnswer =
  | { readonly kind: 'ended'; readonly exit_code: number; readonly stdout: string; readonly stderr: string }
  | { readonly kind: 'killed'; readonly reason: string }
  | { readonly kind: 'refused'; readonly reason: string }

/** Outbound requests of gates: the function net-gate, in both places. */
export interface Http {
  request(request: LimitedRequest): Promise<LimitedAnswer>
}

/** Commands of gates: the function shell-gate, in both places. */
export interface Shell {
  run(command: { readonly argv: readonly string[]; readonly timeout_ms: number }): Promise<ShellAnswer>
}

/** What checks may touch outside themselves. Without a port (the offline check) a gate that needs it answers `error`. */
export interface GatePorts {
  readonly isolate: Isolate
  readonly http?: Http
  readonly shell?: Shell
  /** A configured provider by name, for a second model's opinion. */
  readonly provider?: (name: string) => Provider | undefined
  /** The script of a project's gate by its hash; undefined = it is not at hand. */
  readonly script?: (version: string) => Promise<string | undefined>
  /** Size and hash of an object of this run's tenant, verified; undefined = there is none. */
  readonly objectFacts?: (ref: string) => Promise<{ readonly sha256: string; readonly bytes: number } | undefined>
}

/** Why this place does not run the command, and what an operator does about it; undefined = it may run. */
export function shellRefusal({ allow }: Pick<ShellGateSettings, 'allow'>, argv: readonly string[]): string | undefined {
  const shown = JSON.stringify(argv.slice(0, 3).map((word) => safeOneLine(word, 30)))
  if (allow.length === 0) return `shell gates are off here; an operator who trusts it adds ${shown} ${FIX}`
  if (allow.some((prefix) => prefix.every((word, i) => word === argv[i]))) return undefined
  return `the operator's list has no beginning of ${shown}; an operator who trusts it adds it ${FIX}`
}

const FIX = 'to shell_gates.allow in sluice.yaml, and start again (on AWS: deploy again)'
