/* net.h - a network for the nodes of a throw-away cluster that can be cut.
 *
 * Each node has a network namespace of its own, all of them meet at a bridge in another
 * one.  Namespaces have no names: they go when the last process in them and this one
 * have ended, however that happens, and with them all links and rules.  Needs root, ip
 * (iproute2), nsenter (util-linux) and nft (nftables). */
#ifndef INS_NET_H
#define INS_NET_H

#include "cluster.h"

struct ins_net;

/* 0 when networks can be made here; otherwise *error says what is missing. */
int ins_net_possible(struct insula_error *error);

struct ins_net *ins_net_new(unsigned nodes, struct insula_error *error);
void ins_net_free(struct ins_net *net);

/* The namespace of a node, for setns; the net keeps it. */
int ins_net_of(const struct ins_net *net, unsigned node);
/* "10.77.0.1" */
const char *ins_net_address(unsigned node, char *buffer, size_t size);

/* cut[i] has bit j: nothing from node j arrives at node i.  loss: per cent of what does
 * arrive that is dropped.  Replaces what was said before. */
int ins_net_rules(struct ins_net *net, const uint32_t *cut, unsigned loss,
                  struct insula_error *error);

#endif
