import * as z from 'zod'
import { hostPattern } from '../gates/settings.ts'

const PROXY = 'http://HOST:PORT or https://HOST:PORT, without path, user and password; or environment'

/** A proxy's address; who may use it is said under `credentials`. */
const proxyUrl = z
  .string(PROXY)
  .max(500, PROXY)
  .refine(
    (text) => text === 'environment' || /^https?:\/\/([A-Za-z0-9._-]+|\[[0-9a-f:.]+\])(:\d{1,5})?\/?$/.test(text),
    PROXY,
  )
  .refine((text) => text === 'environment' || URL.canParse(text), PROXY)

/** Which way requests to the outside leave by, and whom they may go to (docs/operate.md, "Egress"). */
export const EgressSettingsSchema = z
  .strictObject({
    /** An HTTP proxy; `environment`: that of HTTPS_PROXY of a local place. Absent = requests leave straight. */
    proxy: proxyUrl.optional(),
    /** `USER:PASSWORD` that the proxy asks for. Only in the local place. */
    credentials: z
      .strictObject({ env: z.string().regex(/^[A-Za-z_][A-Za-z0-9_]{0,127}$/, 'the name of an environment variable') })
      .optional(),
    /** Who is asked straight: a host, or `*.HOST` for every one below it. This machine always is. */
    no_proxy: z.array(hostPattern).max(100).default([]),
    /** When it is there, no other host is asked by anything that a run, a gate or a webhook asks for. */
    hosts: z.array(hostPattern).max(200).optional(),
  })
  .refine(({ proxy, credentials }) => credentials === undefined || (proxy !== undefined && proxy !== 'environment'), {
    path: ['credentials'],
    message: 'is of a proxy that is named here; that of the environment has them in its address',
  })
export type EgressSettings = z.infer<typeof EgressSettingsSchema>
