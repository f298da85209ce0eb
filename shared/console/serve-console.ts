import { Fault } from '../errors.ts'
import { sha256 } from '../text/hash.ts'

/**
 * What a browser may do with a page of ours: only what comes from the server itself. The icon and small pictures in the
 * style sheet are data: addresses (Vite puts what is under 4 KiB there); no script or style stands in the page.
 */
const POLICY = [
  "default-src 'self'",
  "img-src 'self' data:",
  "object-src 'none'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
].join('; ')

/** On every answer of the console, whatever its status. */
const PAGE_HEADERS: Readonly<Record<string, string>> = {
  'content-security-policy': POLICY,
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
}

/** A file of the built console: where a page finds it (`/assets/index-Bc4.js`), and what it holds. */
export interface ConsoleFile {
  readonly path: string
  readonly bytes: Uint8Array
}

export interface ConsoleRequest {
  readonly method: string
  /** Without the query. */
  readonly path: string
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>
}

export interface ConsoleAnswer {
  readonly statusCode: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | Uint8Array
}

type Compress = (bytes: Uint8Array) => Promise<Uint8Array>
/** In the order of preference. */
type Encodings = Readonly<Record<'br' | 'gzip', Compress>>

/**
 * The static files of one build of the console, as answers; undefined for a path that is none of its files: those are
 * the API's. Only paths of the list are looked up, so no path leads anywhere else. Each file is compressed once, when
 * it is first asked for. Fault 405 method_not_allowed for anything but GET and HEAD.
 */
export function serveConsole(files: readonly ConsoleFile[], encodings: Encodings) {
  const known = new Map(files.map((file) => [file.path, withCopies(file, encodings)]))
  return async (request: ConsoleRequest): Promise<ConsoleAnswer | undefined> => {
    const page = PAGES.has(request.path)
    const file = known.get(page ? '/index.html' : request.path)
    if (file === undefined && !page) return undefined
    mustRead(request)
    return file === undefined ? NOT_BUILT : await answerOf(file, request)
  }
}

/** One page: what it shows stands behind `#`, where no server sees it. */
const PAGES: ReadonlySet<string> = new Set(['/', '/dag', '/dag/'])

const NOT_BUILT: ConsoleAnswer = {
  statusCode: 503,
  headers: { ...PAGE_HEADERS, 'content-type': 'text/html; charset=utf-8', 'cache-control': 'no-store' },
  body: `<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="color-scheme" content="dark light"><title>Sluice</title>
<h1>The console is not built</h1>
<p>Run <code>npm run build</code> in the folder of Sluice and load this page again: nothing needs a restart.</p>
<p>The API answers as always; <code>sluice run list</code> shows the runs in a terminal.</p>
</html>
`,
}

interface Served {
  readonly path: string
  readonly bytes: Uint8Array
  readonly tag: string
  /** Kept: the work of a compression is done once. */
  copy(encoding: keyof Encodings): Promise<Uint8Array>
}

function withCopies({ path, bytes }: ConsoleFile, encodings: Encodings): Served {
  const copies = new Map<keyof Encodings, Promise<Uint8Array>>()
  return {
    path,
    bytes,
    tag: sha256(bytes).slice(0, 24),
    copy(encoding) {
      const made = copies.get(encoding) ?? encodings[encoding](bytes)
      copies.set(encoding, made)
      return made
    },
  }
}

function mustRead({ method, path }: ConsoleRequest): void {
  if (method === 'GET' || method === 'HEAD') return
  const allow = ['GET', 'HEAD']
  const message = `Cannot ${method} "${path.slice(0, 200)}": this path takes GET, HEAD.`
  throw new Fault('InvalidInput', 'method_not_allowed', message, { status: 405, facts: { allow } })
}

async function answerOf(file: Served, { headers }: ConsoleRequest): Promise<ConsoleAnswer> {
  const type = mediaType(file.path)
  const encoding = TEXT.test(type) ? chosenEncoding(headers['accept-encoding']) : undefined
  // The bytes differ by encoding, and so must a strong tag (RFC 9110, 8.8.3.3).
  const etag = `"${file.tag}${encoding === undefined ? '' : `-${encoding}`}"`
  const always = {
    ...PAGE_HEADERS,
    etag,
    vary: 'accept-encoding',
    // Vite writes a hash of the content into every name below assets/.
    'cache-control': file.path.startsWith('/assets/') ? 'public, max-age=31536000, immutable' : 'no-cache',
  }
  if (matches(headers['if-none-match'], etag)) return { statusCode: 304, headers: always, body: '' }
  return {
    statusCode: 200,
    headers: { ...always, 'content-type': type, ...(encoding && { 'content-encoding': encoding }) },
    body: encoding === undefined ? file.bytes : await file.copy(encoding),
  }
}

const TEXT = /^text\/|javascript|json|svg/

const MEDIA_TYPES: Readonly<Record<string, string>> = {
  html: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  json: 'application/json',
  map: 'application/json',
  webmanifest: 'application/manifest+json',
  svg: 'image/svg+xml',
  png: 'image/png',
  webp: 'image/webp',
  ico: 'image/x-icon',
  woff2: 'font/woff2',
  txt: 'text/plain; charset=utf-8',
}

function mediaType(path: string): string {
  return MEDIA_TYPES[path.slice(path.lastIndexOf('.') + 1)] ?? 'application/octet-stream'
}

type Header = string | readonly string[] | undefined

function chosenEncoding(accepted: Header): keyof Encodings | undefined {
  const refused = /;\s*q=0(\.0*)?\s*$/
  const offers = listOf(accepted).filter((offer) => !refused.test(offer))
  const names = new Set(offers.map((offer) => offer.split(';')[0]?.trim().toLowerCase()))
  return (['br', 'gzip'] as const).find((name) => names.has(name))
}

/** Compared without regard to weakness, as If-None-Match is (RFC 9110, 13.1.2). */
function matches(given: Header, etag: string): boolean {
  return listOf(given).some((tag) => tag === '*' || tag.replace(/^W\//, '') === etag)
}

function listOf(header: Header): readonly string[] {
  return [header ?? []].flat().flatMap((text) => text.split(',').map((part) => part.trim()))
}
