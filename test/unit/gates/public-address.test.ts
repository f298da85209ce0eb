import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { isLoopback, nonPublicAddressKind } from '../../../functions/gates/net-target.ts'

describe('specialAddress()', () => {
  test.each([
    ['127.0.0.1', 'loopback'],
    ['127.255.255.254', 'loopback'],
    ['10.1.2.3', 'private'],
    ['172.16.0.1', 'private'],
    ['172.31.255.255', 'private'],
    ['192.168.1.1', 'private'],
    ['169.254.169.254', /metadata/],
    ['169.254.170.2', /metadata/],
    ['192.0.0.192', /cloud/],
    ['168.63.129.16', /cloud/],
    ['100.100.100.200', /customers/],
    ['0.0.0.0', 'this network'],
    ['0.1.2.3', 'this network'],
    ['224.0.0.1', 'multicast'],
    ['192.0.2.1', 'documentation'],
    ['198.51.100.1', 'documentation'],
    ['203.0.113.9', 'documentation'],
    ['198.19.255.255', 'benchmarking'],
    ['192.88.99.1', 'reserved'],
    ['255.255.255.255', 'reserved'],
    ['::1', 'loopback'],
    ['::', /no global/],
    ['::ffff:127.0.0.1', 'loopback'],
    ['::ffff:8.8.8.8', /no global/],
    ['::ffff:0:8.8.8.8', /no global/],
    ['::127.0.0.1', /no global/],
    ['64:ff9b::7f00:1', /no global/],
    ['64:ff9b:1::1', /no global/],
    ['fe80::1', /no global/],
    ['fe80::1%eth0', 'no public address'],
    ['2600::1%1', 'no public address'],
    ['fc00::1', /no global/],
    ['fd00:ec2::254', /no global/],
    ['ff02::1', /no global/],
    ['5f00::1', /no global/],
    ['100::1', /no global/],
    ['2002:7f00:1::', /6to4/],
    ['2001::1', /Teredo/],
    ['2001:2::1', 'reserved'],
    ['2001:20::1', 'reserved'],
    ['2001:db8::1', 'documentation'],
    ['3fff::1', 'documentation'],
    ['2620:4f:8000::1', 'reserved'],
    ['', 'no public address'],
    ['example.com', 'no public address'],
    ['0x7f.1', 'no public address'],
    ['127.1', 'no public address'],
  ])('%s is %s', (address, wanted) => {
    expect(nonPublicAddressKind(address)).toMatch(wanted)
  })

  test.each([
    '8.8.8.8',
    '1.1.1.1',
    '172.15.255.255',
    '172.32.0.1',
    '100.63.255.255',
    '169.253.0.1',
    '192.0.1.1',
    '223.255.255.255',
  ])('%s is public', (address) => {
    expect(nonPublicAddressKind(address)).toBeUndefined()
  })

  test.each(['2606:4700:4700::1111', '2a00:1450::1', '2001:4860:4860::8888', '2003::1', '3ffd::1'])(
    '%s is public',
    (address) => {
      expect(nonPublicAddressKind(address)).toBeUndefined()
    },
  )

  test('an IPv4 address in any IPv6 form is never public', () => {
    const bytes = fc.tuple(fc.nat(255), fc.nat(255), fc.nat(255), fc.nat(255))
    fc.assert(
      fc.property(bytes, fc.constantFrom('::ffff:', '::', '64:ff9b::', '::ffff:0:'), (parts, prefix) => {
        expect(nonPublicAddressKind(`${prefix}${parts.join('.')}`)).toBeDefined()
      }),
    )
  })
})

test('only plain loopback addresses are loopback: no mapped or scoped form, no name', () => {
  const forms = ['127.0.0.1', '127.9.9.9', '::1', '0:0:0:0:0:0:0:1']
  expect(forms.filter(isLoopback)).toEqual(forms)
  const others = ['::ffff:127.0.0.1', '::ffff:7f00:1', '0.0.0.0', '::', '::1%lo', 'localhost', '128.0.0.1', '']
  expect(others.filter(isLoopback)).toEqual([])
})
