package main

import (
	"context"
	"fmt"
	"slices"

	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/utils/ptr"
)

// object is a pointer to a typed object.
type object[T any] interface {
	*T
	metav1.Object
	runtime.Object
}

// typedClient is what the clients of all kinds share.
type typedClient[P, L any] interface {
	Create(context.Context, P, metav1.CreateOptions) (P, error)
	Update(context.Context, P, metav1.UpdateOptions) (P, error)
	Get(context.Context, string, metav1.GetOptions) (P, error)
	List(context.Context, metav1.ListOptions) (L, error)
	Watch(context.Context, metav1.ListOptions) (watch.Interface, error)
	Patch(context.Context, string, types.PatchType, []byte, metav1.PatchOptions, ...string) (P, error)
	Delete(context.Context, string, metav1.DeleteOptions) error
	DeleteCollection(context.Context, metav1.DeleteOptions, metav1.ListOptions) error
}

// each is how many objects a proof makes.
const each = 7

// proveKind creates, gets, updates, patches, lists in pages, watches and deletes objects of one kind.
func proveKind[T any, P object[T], L runtime.Object](ctx context.Context, c typedClient[P, L], make func(string) P) error {
	selected := metav1.ListOptions{LabelSelector: labels.SelectorFromSet(made).String()}
	list, err := c.List(ctx, selected)
	if err != nil {
		return fmt.Errorf("list: %w", err)
	}
	from, err := apimeta.ListAccessor(list)
	if err != nil {
		return err
	}
	watching := selected
	watching.ResourceVersion = from.GetResourceVersion()
	events, err := c.Watch(ctx, watching)
	if err != nil {
		return fmt.Errorf("watch: %w", err)
	}
	defer events.Stop()

	var objects []P
	for i := range each {
		created, err := c.Create(ctx, make(fmt.Sprintf("o%d", i)), metav1.CreateOptions{})
		if err != nil {
			return fmt.Errorf("create: %w", err)
		}
		if created.GetUID() == "" || created.GetResourceVersion() == "" || created.GetCreationTimestamp() == (metav1.Time{}) {
			return fmt.Errorf("create: no system metadata: %v", created)
		}
		got, err := c.Get(ctx, created.GetName(), metav1.GetOptions{})
		if err != nil {
			return fmt.Errorf("get: %w", err)
		}
		if !apiequality.Semantic.DeepEqual(created, got) {
			return fmt.Errorf("get: %v is not what was created: %v", got, created)
		}
		objects = append(objects, created)
		if err := expect(ctx, events, watch.Added, created); err != nil {
			return err
		}
	}
	if _, err := c.Create(ctx, make("o0"), metav1.CreateOptions{}); !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("create of what exists: %v", err)
	}
	if err := proveWrites(ctx, c, objects, events); err != nil {
		return err
	}
	if err := provePages(ctx, c, objects, selected); err != nil {
		return err
	}
	return proveDeletes(ctx, c, objects, events, selected)
}

func proveWrites[T any, P object[T], L any](
	ctx context.Context, c typedClient[P, L], objects []P, events watch.Interface,
) error {
	stale := objects[0].DeepCopyObject().(P)
	for i, o := range objects {
		o = o.DeepCopyObject().(P)
		o.SetAnnotations(map[string]string{"turn": "1"})
		updated, err := c.Update(ctx, o, metav1.UpdateOptions{})
		if err != nil {
			return fmt.Errorf("update: %w", err)
		}
		if err := expect(ctx, events, watch.Modified, updated); err != nil {
			return err
		}
		objects[i] = updated
	}
	stale.SetAnnotations(map[string]string{"turn": "late"})
	if _, err := c.Update(ctx, stale, metav1.UpdateOptions{}); !apierrors.IsConflict(err) {
		return fmt.Errorf("update of a stale object: %v", err)
	}
	patch := []byte(`{"metadata":{"annotations":{"turn":"2"}}}`)
	for _, form := range []types.PatchType{types.MergePatchType, types.StrategicMergePatchType} {
		patched, err := c.Patch(ctx, objects[0].GetName(), form, patch, metav1.PatchOptions{})
		if err != nil {
			return fmt.Errorf("patch: %w", err)
		}
		// The second patch changes nothing, and is no event.
		if form == types.MergePatchType {
			if err := expect(ctx, events, watch.Modified, patched); err != nil {
				return err
			}
		}
		objects[0] = patched
	}
	return nil
}

func provePages[T any, P object[T], L runtime.Object](
	ctx context.Context, c typedClient[P, L], objects []P, options metav1.ListOptions,
) error {
	options.Limit = 3
	seen := 0
	for {
		page, err := c.List(ctx, options)
		if err != nil {
			return fmt.Errorf("page: %w", err)
		}
		items, err := apimeta.ExtractList(page)
		if err != nil {
			return err
		}
		for _, item := range items {
			if seen == len(objects) || !apiequality.Semantic.DeepEqual(item, runtime.Object(objects[seen])) {
				return fmt.Errorf("page: item %d is %v", seen, item)
			}
			seen++
		}
		about, err := apimeta.ListAccessor(page)
		if err != nil {
			return err
		}
		options.Continue = about.GetContinue()
		if options.Continue == "" {
			break
		}
		if len(items) != 3 {
			return fmt.Errorf("page: %d items", len(items))
		}
	}
	if seen != len(objects) {
		return fmt.Errorf("page: %d items in all", seen)
	}
	return nil
}

func proveDeletes[T any, P object[T], L runtime.Object](
	ctx context.Context, c typedClient[P, L], objects []P, events watch.Interface, all metav1.ListOptions,
) error {
	now := metav1.DeleteOptions{GracePeriodSeconds: ptr.To[int64](0), PropagationPolicy: ptr.To(metav1.DeletePropagationBackground)}
	other := now
	other.Preconditions = metav1.NewUIDPreconditions("another")
	if err := c.Delete(ctx, objects[0].GetName(), other); !apierrors.IsConflict(err) {
		return fmt.Errorf("delete of another uid: %v", err)
	}
	if err := c.Delete(ctx, objects[0].GetName(), now); err != nil {
		return fmt.Errorf("delete: %w", err)
	}
	if _, err := c.Get(ctx, objects[0].GetName(), metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		return fmt.Errorf("get of what is gone: %v", err)
	}
	if err := c.DeleteCollection(ctx, now, all); err != nil {
		return fmt.Errorf("delete collection: %w", err)
	}
	for gone := 0; gone < len(objects); {
		event, err := next(ctx, events, watch.Deleted, watch.Modified)
		if err != nil {
			return err
		}
		// A kind with graceful deletion tells of its deletion time first, even where that is now.
		if o := event.Object.(P); event.Type == watch.Modified && o.GetDeletionTimestamp() == nil {
			return fmt.Errorf("watch: %s changed in the midst of deletions", o.GetName())
		}
		if event.Type == watch.Deleted {
			gone++
		}
	}
	return nil
}

// expect takes the next event, which tells what the write answered.
func expect(ctx context.Context, events watch.Interface, kind watch.EventType, o runtime.Object) error {
	event, err := next(ctx, events, kind)
	if err == nil && !apiequality.Semantic.DeepEqual(event.Object, o) {
		err = fmt.Errorf("watch: %v is not what was answered: %v", event.Object, o)
	}
	return err
}

func next(ctx context.Context, events watch.Interface, kinds ...watch.EventType) (watch.Event, error) {
	select {
	case event, open := <-events.ResultChan():
		if !open || !slices.Contains(kinds, event.Type) {
			return event, fmt.Errorf("watch: %v was expected, not %v", kinds, event)
		}
		return event, nil
	case <-ctx.Done():
		return watch.Event{}, fmt.Errorf("watch: %v: %w", kinds, ctx.Err())
	}
}
