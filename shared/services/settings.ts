import * as z from 'zod'
import { MOST_REQUEST_MS } from '../limits.ts'
import { httpUrl, KeySchema } from '../ports/secrets.ts'

/** Services a place may name. */
const MOST_SERVICES = 50

const serviceName = z
  .string()
  .regex(/^[A-Za-z][A-Za-z0-9_-]{0,63}$/, 'a letter, then letters, digits, "_" and "-", 64 at most')

const ServiceSchema = z
  .strictObject({
    /** Every path of a document is below it. */
    url: httpUrl.refine((url) => !/[?\\]/.test(url), 'a URL without ? and backslash: a document gives the query'),
    key: KeySchema.optional(),
    /** The header its key is sent in, as it is; without it `Authorization: Bearer KEY`. */
    header: z
      .string()
      .refine((name) => headerNameProblem(name, []) === undefined, {
        error: ({ input }) => `the name of a header: ${headerNameProblem(String(input), [])}`,
      })
      .optional(),
    /** Of one request. */
    timeout_ms: z.int().min(1).max(MOST_REQUEST_MS).default(MOST_REQUEST_MS),
    /** It is of this machine or of a private network. Only in the local place. */
    private: z.boolean().default(false),
  })
  .refine(({ url, private: own }) => own || url.startsWith('https:'), {
    path: ['url'],
    error: 'https, or http with private: true for a service of this machine or of your own network',
  })
  .refine(({ header, key }) => header === undefined || key !== undefined, {
    path: ['header'],
    error: 'the header of a key, but there is no key: add key: {env: NAME}',
  })
/** A service the operator named. */
export type ServiceSettings = z.infer<typeof ServiceSchema>
/** All of them, by name. */
export type ServicesSettings = Readonly<Record<string, ServiceSettings>>

/** `services` in sluice.yaml: whom blocks of the handler `http` may ask (docs/dag.md, "http"). */
export const ServicesSettingsSchema = z
  .record(serviceName, ServiceSchema)
  .refine((all) => Object.keys(all).length <= MOST_SERVICES, `at most ${MOST_SERVICES} services`)

/** The settings of a service; undefined = the operator named none so. */
export function findService(services: ServicesSettings, name: string): ServiceSettings | undefined {
  return Object.hasOwn(services, name) ? services[name] : undefined
}

/** Its URL as it is sent, without a slash at the end: a path begins with one. */
export function serviceBase({ url }: Pick<ServiceSettings, 'url'>): string {
  const { origin, pathname } = new URL(url)
  return `${origin}${pathname}`.replace(/\/$/, '')
}

/** Whether a URL, as it will be sent, leads to the service and no further up than its own URL. */
export function isBelowService(service: Pick<ServiceSettings, 'url'>, text: string): boolean {
  const url = URL.parse(text)
  if (url === null || url.username !== '' || url.password !== '' || url.hash !== '') return false
  const base = serviceBase(service)
  const asked = `${url.origin}${url.pathname}`
  return asked === base || asked.startsWith(`${base}/`)
}

/** The header its key is sent in, in small letters; undefined = it has no key. */
export function keyHeader({ key, header }: ServiceSettings): string | undefined {
  return key === undefined ? undefined : (header ?? 'Authorization').toLowerCase()
}

/**
 * Why a document, or the settings, may not name such a header; undefined = it may. `taken`: names, in small letters, that
 * are taken already.
 */
export function headerNameProblem(name: string, taken: readonly string[]): string | undefined {
  if (!/^[A-Za-z][A-Za-z0-9-]{0,63}$/.test(name)) return 'a letter, then letters, digits and "-", 64 at most'
  const small = name.toLowerCase()
  if (OURS.has(small) || OURS_BEGIN.some((start) => small.startsWith(start))) {
    return `"${name}" is written by Sluice, or decides whom a request reaches and who sends it`
  }
  return taken.includes(small) ? `"${name}" holds the key of the service` : undefined
}

/** What frames a message, says where it goes and by whom it was sent, and what would make another method of it. */
const OURS = new Set([
  'accept-encoding',
  'authorization',
  'connection',
  'content-encoding',
  'content-length',
  'content-type',
  'cookie',
  'cookie2',
  'expect',
  'forwarded',
  'host',
  'http2-settings',
  'keep-alive',
  'set-cookie',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'via',
  'x-http-method',
  'x-http-method-override',
  'x-method-override',
  'x-real-ip',
])
const OURS_BEGIN = ['proxy-', 'sec-', 'x-forwarded-']
